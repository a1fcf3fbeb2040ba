"""Where in the conversation a dialogue failed: four yes/no judgements of it, their rates and agreement (paper, 5.3)."""
