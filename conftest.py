"""Makes every pytest session below this folder know the suite's options, markers and fixtures."""

pytest_plugins = ("collabtax.plugin",)
