"""Options, models and cells: what is refused and how, what wins, what has which name."""

import dataclasses
import itertools
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from collabtax.cells import Cell, printable, slug, zigzag
from collabtax.models import Model, load_model, read_models
from collabtax.options import INTERVENTIONS, MODES, OPTIONS
from collabtax.settings import settings
from collabtax.tax.study import LENGTH, STUDY, tax_cells
from tasks import all_tasks


def refused(given, root):
    with pytest.raises(ValueError) as told:
        settings(given, root)
    assert "\n" not in str(told.value)
    return str(told.value)


LIVE = {"model": ["m"]}
BAD = {
    "task": ({"task": ["maz"]}, ["--task 'maz'", "did you mean maze?", "known: "]),
    "tasks": ({"task": ["maze,nothing like it"]}, ["'nothing like it'", "known: "]),
    "family": ({"family": ["spacial"]}, ["--family 'spacial'", "did you mean spatial?"]),
    "family without the task": (
        {"family": ["csp"], "task": ["maze"]},
        ["no task is left", "--task maze", "--family csp"],
    ),
    "mode": ({"mode": ["duo"]}, ["--mode 'duo'", "known: solo, half, homo, hetero"]),
    "mode none": ({"mode": [""]}, ["--mode ''", "leave it out"]),
    "hetero alone": ({"mode": ["hetero"]}, ["--mode hetero", "--pair A,B"]),
    "study": ({"study": ["tacks"]}, ["--study 'tacks'", "known: tax"]),
    "intervention": ({"intervention": ["no-l5"]}, ["--intervention 'no-l5'", "did you mean"]),
    "pair of one": ({"pair": ["a"]}, ["--pair 'a'", "two different models", "--pair A,B"]),
    "pair of three": ({"pair": ["a,b,c"]}, ["--pair 'a,b,c'", "--pair A,B"]),
    "pair of equals": ({"pair": ["a, a"]}, ["--pair 'a, a'", "two different"]),
    "pair of nothing": ({"pair": ["a,"]}, ["--pair 'a,'", "--pair A,B"]),
    "pair as lists": ({"pair": [["a", "b"]]}, ["--pair ['a', 'b']", "quotes"]),
    "model empty": ({"model": [""]}, ["--model ''", "empty"]),
    "model a number": ({"model": [4]}, ["--model 4", "quotes"]),
    "rollouts 0": ({"rollouts": "0"}, ["--rollouts 0", "the least is 1"]),
    "rollouts x": ({"rollouts": "x"}, ["--rollouts 'x'", "whole number"]),
    "rollouts 2.5": ({"rollouts": 2.5}, ["--rollouts 2.5", "whole number"]),
    "rollouts true": ({"rollouts": True}, ["--rollouts True", "whole number"]),
    "turn cap": ({"turn_cap": "-1"}, ["--turn-cap -1", "the least is 1"]),
    "concurrency": ({"concurrency": "0"}, ["--concurrency 0", "the least is 1"]),
    "seed": ({"seed": "-1"}, ["--seed -1", "the least is 0"]),
    "temperature": ({"temperature": "warm"}, ["--temperature 'warm'", "a number"]),
    "temperature nan": ({"temperature": "nan"}, ["--temperature 'nan'", "a number"]),
    "temperature inf": ({"temperature": "inf"}, ["--temperature 'inf'", "a number"]),
    "friction": ({"friction": "natural,strong"}, ["--friction", "known: none, natural, strong"]),
    "friction empty": ({"friction": ""}, ["--friction ''", "leave it out for natural"]),
    "friction true": ({"friction": True}, ["--friction True", "quotes"]),
    "difficulty": ({"difficulty": "herd"}, ["--difficulty 'herd'", "did you mean hard?"]),
    "record mode": ({"record_mode": "new"}, ["--record-mode 'new'", "known: none, once, new_episodes, all"]),
    "cassettes": ({"cassettes": " "}, ["--cassettes ''", "leave it out for cassettes"]),
    "extractor": ({"extractor": ""}, ["--extractor ''", "leave it out for program"]),
    "critic": ({"no_critic": "yes"}, ["--no-critic 'yes'", "true nor false"]),
    "sim": ({"model": ["sim/weka"]}, ["sim/weka", "sim/weak", "l1"]),
    "sim in a pair": ({"pair": ["sim/weak,sim/l9=1"]}, ["sim/"]),
    "sim reads": ({"extractor": "sim/nobody"}, ["sim/nobody", "sim/extractor"]),
    "models file": ({"models": "gone.toml"}, ["gone.toml", "not there", "--models"]),
    "rollouts_of": ({"rollouts_of": 3}, ["rollouts_of 3", "MODEL = NUMBER"]),
    "rollouts_of number": ({"rollouts_of": {"m": "x"}}, ["rollouts_of m 'x'", "whole number"]),
    "tasks_of": ({"tasks_of": {"m": "maze"}}, ["tasks_of", "MODEL = [TASK, ...]"]),
    "tasks_of unknown": ({"tasks_of": {"m": ["maz"]}}, ["--task 'maz'", "did you mean maze?"]),
    "baseline live": ({"baseline": "b.jsonl"}, ["--baseline b.jsonl", "--record-mode=none"]),
    "baseline of nothing": ({"update_baseline": True}, ["--update-baseline", "--baseline FILE"]),
    "extractors": ({"extractor": "program,"}, ["--extractor 'program,'", "two of them with a comma"]),
    "extractors three": ({"extractor": "program,a,b"}, ["--extractor 'program,a,b'"]),
    "extractors same": ({"extractor": "a,a"}, ["--extractor 'a,a'"]),
    "rollouts_of zero": ({"rollouts_of": {"m": 0}}, ["rollouts_of m 0", "whole number from 1"]),
}


@pytest.mark.parametrize(("given", "says"), BAD.values(), ids=BAD)
def test_a_bad_value_is_refused_in_one_line(tmp_path, given, says):
    told = refused(LIVE | given, tmp_path)
    for part in says:
        assert part in told, told
    assert list(tmp_path.iterdir()) == [], "nothing is written before all is checked"


def test_no_model_and_no_embedded_default(tmp_path):
    told = refused({}, tmp_path)
    assert "--model NAME" in told
    assert "default.toml" in told


MODELS_FILES = {
    "no TOML": ("[models\n", ["models file", "line 1"]),
    "bytes": (b"\xff\xfe", ["models file", "[models.NAME]"]),
    "misspelt table": ('[model."m"]\ninput = 1.0', ["'model'", "[models.NAME]"]),
    "a list": ("models = [1]", ["'models'", "[models.NAME]"]),
    "no table": ('models.m = "x"', ["m: 'x'", '[models."m"]']),
    "unknown field": ("[models.m]\nprice = 1", ["m: unknown 'price'", "known: base_url, cached"]),
    "name": ('[models.m]\nname = "x"', ["unknown 'name'"]),
    "price": ('[models.m]\ninput = "1"', ["input '1'", "USD"]),
    "negative price": ("[models.m]\noutput = -1", ["output -1", "USD"]),
    "infinite price": ("[models.m]\noutput = inf", ["output inf", "USD"]),
    "refuses": ('[models.m]\nrefuses = "temperature"', ["refuses 'temperature'", "a list"]),
    "address": ('[models.m]\nbase_url = "localhost:8000"', ["base_url 'localhost:8000'", "https://"]),
    "parameters": ("[models.m]\nparameters = 3", ["parameters 3", "a table"]),
    "a date": ("[models.m.parameters]\nx = 2024-01-01", ["parameters", "JSON"]),
    "nan": ("[models.m.parameters]\nx = nan", ["parameters", "JSON"]),
    "context": ("[models.m]\ncontext = true", ["context True", "tokens"]),
    "key_env": ("[models.m]\nkey_env = 5", ["key_env 5", "a variable"]),
    "id": ('[models.m]\nid = ""', ["id ''", "a name"]),
}


@pytest.mark.parametrize(("text", "says"), MODELS_FILES.values(), ids=MODELS_FILES)
def test_a_bad_models_file_is_refused_in_one_line(tmp_path, text, says):
    path = tmp_path / "models.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    told = refused(LIVE | {"models": "models.toml"}, tmp_path)
    for part in (str(path), *says):
        assert part in told, told


def test_models_and_what_the_table_says_of_them(tmp_path):
    path = tmp_path / "models.toml"
    path.write_text('[models."gpt-5"]\ninput = 9.0\noutput = 1\nparameters = { max_tokens = 5 }\nrefuses = ["top_p"]\n')
    entries = read_models(path)
    mine, shipped, unknown = (load_model(*a) for a in (("gpt-5", entries), ("gpt-5", {}), ("new/model", entries)))
    assert mine.settings(0.7) == {"model": "gpt-5", "temperature": 0.7, "max_tokens": 5}
    assert shipped.settings(0.7) == {"model": "gpt-5"}
    assert unknown == Model("new/model", "new/model")
    for name in ("gpt-5-mini", "o1", "o3", "o3-mini", "o4-mini", "gpt-5-2025-08-07", "o3-mini-2025-01-31"):
        assert load_model(name, entries).settings(0.7) == {"model": name}, name
    assert load_model("gpt-5-2025-08-07", {}).price({"prompt": 10}) == shipped.price({"prompt": 10})
    for name in ("gpt-5-chat-latest", "gpt-5-2025", "2025-08-07", "-2025-08-07"):
        assert load_model(name, {}) == Model(name, name)
    assert mine.price({"prompt": 10}) == 9e-5
    for name in read_models(Path(read_models.__code__.co_filename).with_name("models.toml")):
        load_model(name, {})


def test_where_a_model_is_asked(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert Model("m", "m").url == "https://api.openai.com/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:5/v1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert Model("m", "m").host == "127.0.0.1:5"
    assert Model("m", "m").key() == "none"
    assert Model("m", "m", base_url="http://h/v1").url == "http://h/v1"
    assert Model("sim/weak", "sim/weak").host == "in-process"
    assert not Model("sim/weak", "sim/weak", base_url="http://h/v1").in_process


def test_tables_are_checked(tmp_path):
    table = tmp_path / "pyproject.toml"
    for text, says in (
        ('[tool.collabtax]\nrolouts = 3\nmodel = "m"', ["pyproject.toml", "'rolouts'", "did you mean rollouts?"]),
        ("[tool]\ncollabtax = 5", ["pyproject.toml", "[tool.collabtax]"]),
        ("tool = 5", ["pyproject.toml", "[tool.collabtax]"]),
        ("[tool.collabtax\n", ["pyproject.toml", "line 1"]),
    ):
        table.write_text(text)
        told = refused(LIVE, tmp_path)
        for part in says:
            assert part in told, told


def test_precedence(tmp_path):
    (tmp_path / "cassettes").mkdir()
    (tmp_path / "cassettes" / "default.toml").write_text(
        'model = ["sim/weak"]\nrollouts = 20\nturn_cap = 3\nseed = 4\n[rollouts_of]\n"sim/weak" = 2\n'
    )
    one = settings({}, tmp_path)
    assert (one.model, one.rollouts, one.turn_cap, one.embedded, one.record_mode) == (
        ("sim/weak",),
        20,
        3,
        True,
        "none",
    )
    (tmp_path / "pyproject.toml").write_text("[tool.collabtax]\nrollouts = 30\nseed = 5\n")
    two = settings({"seed": "6"}, tmp_path)
    assert (two.rollouts, two.seed, two.turn_cap, two.friction) == (30, 6, 3, "natural")
    live = settings({"model": ["sim/strong"]}, tmp_path)
    assert (live.turn_cap, live.rollouts, live.rollouts_of, live.record_mode) == (50, 30, {}, "new_episodes")
    assert not live.embedded
    (tmp_path / "pyproject.toml").write_text('[tool.collabtax]\nmodel = "sim/medium"\ntask = "maze, schedule"\n')
    table = settings({}, tmp_path)
    assert (table.model, table.task, table.rollouts, table.embedded) == (
        ("sim/medium",),
        ("maze", "schedule"),
        50,
        False,
    )
    assert settings({"model": ["a", "b"]}, tmp_path).model == ("a", "b")
    assert {o[0] for o in OPTIONS} - {"no_critic", "family", "profile"} <= {f.name for f in dataclasses.fields(table)}


def test_forms_of_options(tmp_path):
    one = settings({"model": [" a ", "a"], "pair": ["a, b"], "mode": ["homo,solo", "solo"], "rollouts": "3"}, tmp_path)
    assert one.model == ("a",)
    assert one.pair == (("a", "b"),)
    assert one.mode == ("solo", "homo"), "always in one order"
    assert list(one.models) == ["a", "b"]
    assert one.report == one.run / "report"
    assert one.cassettes == tmp_path / "cassettes"
    cells = one.cells("tax")
    assert [c for c in cells if "solo" not in c.id and c.mode == "solo"] == []
    assert {(c.mode, c.models) for c in cells} == {
        ("solo", ("a",)), ("solo", ("b",)), ("homo", ("a", "a")), ("homo", ("b", "b"))
    }  # fmt: skip
    assert one.cells("another") == []


def cell_of(one, mode, **more):
    return next(c for c in one.cells("tax") if c.mode == mode and all(getattr(c, k) == v for k, v in more.items()))


def test_the_digest_changes_with_what_changes_a_rollout_and_nothing_else(tmp_path):
    (tmp_path / "m.toml").write_text("[models.a]\nparameters = { max_tokens = 5 }\n")
    (tmp_path / "p.toml").write_text("[models.a]\ninput = 1.0\noutput = 2.0\ncontext = 9\n")
    (tmp_path / "r.toml").write_text("[models.r]\nparameters = { max_tokens = 5 }\n")
    base = {"model": ["a"], "pair": ["a,b"]}

    def digests(**given):
        one = settings(base | given, tmp_path)
        return {m: one.digest(cell_of(one, m, task="maze")) for m in MODES["tax"]}

    plain = digests()
    everywhere, solo, talks = set(MODES["tax"]), {"solo"}, {"homo", "hetero"}
    changes = [
        ({"temperature": 0.2}, everywhere),
        ({"friction": "strong"}, everywhere),
        ({"difficulty": "easy"}, everywhere),
        ({"models": "m.toml"}, everywhere),
        ({"extractor": "r"}, everywhere),
        ({"no_critic": True}, solo),
        ({"turn_cap": 3}, talks),
    ]
    for given_, modes in changes:
        assert {m for m, d in digests(**given_).items() if d != plain[m]} == modes, given_
    assert digests(extractor="r") != digests(extractor="r", models="r.toml")
    for given_ in (
        {"rollouts": 7}, {"seed": 9}, {"run": "r"}, {"report": "x"}, {"cassettes": "c"}, {"concurrency": 2},
        {"record_mode": "all"}, {"models": "p.toml"}, {"task": ["maze"]}, {"intervention": ["all-four"]},
        {"plan": True}, {"model": ["a", "c"]}, {"rollouts_of": {"a": 1}},
    ):  # fmt: skip
        assert digests(**given_) == plain, given_


def test_seeds_are_paired_across_modes(tmp_path):
    one = settings({"model": ["a"], "pair": ["a,b"], "rollouts": 9, "seed": 3, "rollouts_of": {"b": 2}}, tmp_path)
    assert one.seeds(cell_of(one, "solo", models=("a",))) == range(3, 12)
    assert one.seeds(cell_of(one, "homo", models=("b", "b"))) == range(3, 5)
    assert one.seeds(cell_of(one, "hetero")) == range(3, 5)


# Names

HOSTILE = [
    "../x", "..", ".", "/etc/passwd", "openai/gpt", "openai_gpt", "CON", "con", "con.txt", "Nul", "x" * 300, "y" * 60,
    "GPT", "gpt", "Gpt", "gpt ", "a+b", "a", "b", "模型", "модель", "é", "e\u0301", "a.", "a..b", ".hidden", "-rf",
    "m-view1", "m", "m-no-l1", "m-all-four", "a\nb", "a\0b", "a:b", "a\\b", "[x]", "\udcff", slug("openai/gpt"),
    slug("GPT"),
]  # fmt: skip


def inside(path, folder):
    return Path(str(path)).resolve().is_relative_to(folder.resolve())


def safe(part):
    return (
        part.isascii() and part.isprintable() and 0 < len(part) <= 250 and not set(part) & set('/\\:*?"<>|[] \0')
        and part[0] not in ".-" and part[-1] != "." and part.split(".")[0].lower() not in ("con", "prn", "aux", "nul")
    )  # fmt: skip


def test_hostile_names_stay_inside_and_apart(tmp_path):
    one = settings(LIVE | {"cassettes": "c"}, tmp_path)
    cells = list(
        tax_cells(
            [("maze", "spatial")],
            HOSTILE,
            list(itertools.permutations(HOSTILE[:8], 2)),
            MODES["tax"],
            tuple(INTERVENTIONS),
        )
    )
    paths = {}
    for cell in dict.fromkeys(cells):
        path = one.cassette(cell, 0)
        assert safe(cell.id), cell.id
        assert inside(path, tmp_path / "c")
        assert path.parent == tmp_path / "c" / "tax" / cell.id
        assert paths.setdefault(str(path).lower(), cell) == cell, "equal but for their case is equal on some systems"
    assert len(paths) == len(set(cells))


NAMES = st.text(st.sampled_from("aAbB/+._- é0"), min_size=1, max_size=8) | st.text(min_size=1, max_size=80)


@given(st.lists(NAMES, min_size=4, max_size=4), st.sampled_from(["", "view1", *INTERVENTIONS]))
def test_two_models_never_share_a_file(names, condition):
    a, b, c, d = names
    assume((a, b) != (c, d))
    one, other = (Cell("tax", "maze", "spatial", "hetero", seats, condition) for seats in ((a, b), (c, d)))
    if a != b and c != d:
        assert one.id.lower() != other.id.lower()
    if a != c:
        assert slug(a).lower() != slug(c).lower()
        for mode in ("solo", "half", "homo"):
            for more in ("", condition, "no-l1"):
                mine = Cell("tax", "maze", "spatial", mode, (a,) * (1 + (mode == "homo")), condition)
                theirs = Cell("tax", "maze", "spatial", mode, (c,) * (1 + (mode == "homo")), more)
                assert mine.id.lower() != theirs.id.lower()
    assert safe(one.id)


def test_names_of_conditions_do_not_pass_for_models():
    for condition in [*INTERVENTIONS, "view1", "view2"]:
        one = Cell("tax", "maze", "spatial", "homo", ("m", "m"), condition)
        other = Cell("tax", "maze", "spatial", "homo", (f"m-{condition}",) * 2)
        assert one.id != other.id


def test_every_cell_has_an_id_of_its_own(tmp_path):
    given_ = {"model": ["a", "b"], "pair": ["a,b", "b,c", "b,a"], "intervention": list(INTERVENTIONS)}
    cells = settings(given_, tmp_path).cells("tax")
    assert len({c.id for c in cells}) == len(cells) == len(set(cells))
    assert {c.task for c in cells} == {t.name for t in all_tasks()}
    hetero = {c.models for c in cells if c.mode == "hetero"}
    assert hetero == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")}
    assert {c.condition for c in cells if c.mode == "half"} == {"view1", "view2"}
    assert {c.condition for c in cells if c.mode in ("homo", "hetero")} == {"", *INTERVENTIONS}
    assert {c.condition for c in cells if c.mode == "solo"} == {""}


def test_a_model_may_have_fewer_tasks(tmp_path):
    given_ = {"model": ["a", "b"], "pair": ["a,b"], "task": ["maze,relaquery"], "tasks_of": {"b": ["maze"]}}
    cells = settings(given_, tmp_path).cells("tax")
    assert {c.task for c in cells if "b" in c.models} == {"maze"}
    assert {c.task for c in cells if "b" not in c.models} == {"maze", "relaquery"}


def test_a_pair_of_models_whose_names_hold_commas(tmp_path):
    pair = "sim/l1=0.2,l4=0.5, sim/l2=0.1,slip=0.1"
    assert settings({"pair": [pair]}, tmp_path).pair == (("sim/l1=0.2,l4=0.5", "sim/l2=0.1,slip=0.1"),)
    assert settings({"pair": ["a,b"]}, tmp_path).pair == (("a", "b"),)


def test_a_sweep_is_cells_under_other_settings(tmp_path):
    given_ = {"model": ["a"], "task": ["maze"], "sweep": ["friction-strong,difficulty-hard,no-critic"]}
    one = settings(given_, tmp_path)
    cells = {(c.mode, c.condition): c for c in one.cells("tax")}
    assert {c for m, c in cells if m == "solo"} == {"", "friction-strong", "difficulty-hard", "no-critic"}
    assert {c for m, c in cells if m == "homo"} == {"", "friction-strong", "difficulty-hard"}
    assert {c for m, c in cells if m == "half"} == {"view1", "view2"}
    assert one.under(cells["solo", "no-critic"]).critic is False
    assert one.under(cells["homo", "friction-strong"]).friction == "strong"
    assert one.under(cells["homo", ""]) is one
    assert len({one.digest(c) for c in cells.values() if c.mode == "solo"}) == 4
    assert len({one.cassette(c, 0) for c in cells.values()}) == len(cells)
    strong = settings({"model": ["a"], "task": ["maze"], "friction": "strong"}, tmp_path)
    assert strong.digest(cell_of(strong, "homo")) == one.digest(cells["homo", "friction-strong"])
    with pytest.raises(ValueError, match="--sweep 'friction-mild' is not known"):
        settings({"model": ["a"], "sweep": ["friction-mild"]}, tmp_path)


def test_profiles_stand_for_options_and_what_is_given_wins(tmp_path):
    quick = settings(LIVE | {"profile": "quick"}, tmp_path)
    assert (quick.rollouts, quick.turn_cap, quick.mode) == (3, 8, ("solo", "homo"))
    assert settings(LIVE | {"profile": "quick", "rollouts": "9"}, tmp_path).rollouts == 9
    assert settings(LIVE | {"profile": "paper"}, tmp_path).rollouts == 50
    assert settings(LIVE | {"profile": "ci"}, tmp_path).record_mode == "none"
    (tmp_path / "pyproject.toml").write_text(
        "[tool.collabtax]\nrollouts = 7\nturn_cap = 5\n"
        "[tool.collabtax-profiles.nightly]\nrollouts = 11\nmodel = ['n']\n"
    )
    nightly = settings({"profile": "nightly"}, tmp_path)
    assert (nightly.rollouts, nightly.turn_cap, nightly.model) == (11, 5, ("n",))
    with pytest.raises(
        ValueError, match=r"--profile 'nightlee' is not known \(did you mean nightly\?\); known: quick, paper, ci"
    ):
        settings({"profile": "nightlee"}, tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.collabtax-profiles.odd]\nrolouts = 11\n")
    with pytest.raises(ValueError, match="unknown option 'rolouts'"):
        settings(LIVE | {"profile": "odd"}, tmp_path)


def test_settings_that_change_requests_have_folders_of_their_own(tmp_path):
    def path(**given_):
        one = settings(LIVE | given_, tmp_path)
        return one.cassette(cell_of(one, "solo"), 7)

    paths = [path(), path(temperature=0), path(difficulty="hard"), path(friction="none"), path(friction="strong")]
    assert len(set(paths)) == 5
    assert all(p.name == "0007.yaml" for p in paths)
    assert path(rollouts=3, turn_cap=9) == paths[0]


def test_what_others_say_is_told_in_printable_ascii():
    assert printable("\x1b[1mé\r\n\u202e") == "\\x1b[1m\\xe9\\r\\n\\u202e"


@pytest.mark.parametrize("workers", [1, 2, 4, 16, 500])
def test_workers_get_long_cells_beside_short_ones(tmp_path, workers):
    cells = settings({"model": ["a", "b"], "pair": ["a,b"]}, tmp_path).cells("tax")
    found = zigzag(cells, workers, STUDY.length)
    assert sorted(c.id for c in found) == sorted(c.id for c in cells)
    assert found == zigzag(cells, workers, STUDY.length)
    for long, short in list(zip(found[::2], found[1::2], strict=False))[: min(workers, 50)]:
        assert long.mode in ("homo", "hetero")
        assert short.mode == "half"
    rest = [LENGTH[c.mode] for c in found[2 * workers :]]
    assert rest == sorted(rest, reverse=True)
    assert zigzag(cells[:1], workers, STUDY.length) == cells[:1]
    assert zigzag([], workers, STUDY.length) == []


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"study": ["swap"], "model": ["sim/weak"]}, r"'sim/weak' does not play the swap study; .*sim/mate"),
        ({"study": ["coop"], "model": ["sim/mate"]}, r"'sim/mate' does not play the coop study; .*sim/crew"),
        ({"model": ["sim/crew"]}, r"'sim/crew' does not play the tax study; .*sim/weak"),
        ({"study": ["swap"], "model": ["m"], "medqa": "/nowhere/x.jsonl"}, "--medqa /nowhere/x.jsonl: No such file"),
        ({"study": ["swap"], "model": ["m"], "condition": "formation-2"}, "--condition 'formation-2' is not known"),
        ({"study": ["swap"], "model": ["m"], "mode": "solo"}, "--mode solo is none of these: formation, original"),
        ({"study": ["coop"], "model": ["m"], "task": "maze"}, "--task 'maze' is not known.*known: cube, crafter"),
        ({"study": ["swap"], "model": ["m"], "seat": "leader"}, "--seat 'leader' is not known"),
    ],
)
def test_what_a_study_cannot_run_with_is_told_in_one_line(given_, said, tmp_path):
    with pytest.raises(ValueError, match=said) as problem:
        settings(given_, tmp_path)
    assert "\n" not in str(problem.value)


def test_a_medqa_file_that_is_none_is_told_in_one_line(tmp_path):
    (tmp_path / "q.jsonl").write_text('{"question": "?"}\n')
    with pytest.raises(ValueError, match=r"q\.jsonl, line 1") as problem:
        settings({"study": ["swap"], "model": ["m"], "medqa": "q.jsonl"}, tmp_path)
    assert "\n" not in str(problem.value)


def test_a_study_may_have_several_tables_each_for_models_of_its_own(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.collabtax]\nmodel = ["m"]\n[[tool.collabtax.swap]]\nmodel = ["a"]\ntask = ["forest"]\nrollouts = 4\n'
        '[[tool.collabtax.swap]]\nmodel = ["b"]\ntask = ["kitchen-l1"]\nturn_cap = 5\nseat = "initiator"\n'
    )
    one = settings({"study": ["swap"]}, tmp_path)
    cells = one.cells("swap")
    assert {(c.task, c.models[0]) for c in cells} == {("forest", "a"), ("kitchen-l1", "b")}
    assert {len(one.seeds(c)) for c in cells if c.models[0] == "a"} == {4}
    assert {one.under(c).turn_cap for c in cells if c.models[0] == "b"} == {5}
    assert not any("responder" in c.condition for c in cells)
    assert settings({}, tmp_path).study == ("tax",), "with a model named the tax alone runs"
    assert set(one.models) == {"a", "b"}


def test_cells_without_a_condition_can_be_left_out(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.collabtax.swap]\nmodel = ["a"]\nplain = false\ncondition = ["formation-1"]\ntask = ["forest"]\n'
        '[tool.collabtax.coop]\nmodel = ["a"]\nplain = false\ncondition = ["repair"]\n'
    )
    one = settings({"study": ["swap", "coop"], "model": ["a"]}, tmp_path)
    assert all("formation-1" in c.condition for c in one.cells("swap"))
    assert all(c.condition == "repair" for c in one.cells("coop"))
    assert one.cells("coop")
