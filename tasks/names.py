"""Invented names and plain words, each list long enough that no instance repeats one."""

NAMES = (
    "Ada", "Arno", "Bela", "Britt", "Caro", "Cleo", "Dima", "Doro", "Edda", "Enno", "Falk", "Fritzi", "Gero", "Gita",
    "Hilde", "Hugo", "Igor", "Ines", "Jona", "Jule", "Karla", "Kira", "Lars", "Lotte", "Mila", "Moritz", "Nele", "Nico",
    "Olga", "Pavel", "Quin", "Rosa", "Sven", "Tara", "Udo", "Vera", "Wim", "Xenia", "Yara", "Zeno",
)  # fmt: skip

TOWNS = (
    "Altmoor", "Birkwald", "Corvin", "Dunhaven", "Elsgrund", "Farnby", "Grelsund", "Holtkirk", "Ivarsholm", "Juniper",
    "Kestrel", "Larkfield", "Morvale", "Norrby", "Oakmere", "Pellworm", "Quarrow", "Ravensey", "Silbach", "Tornau",
    "Ulmstead", "Varnhem", "Wexcombe", "Yarrow", "Zandvoort",
)  # fmt: skip

ANIMALS = (
    "badger", "beaver", "camel", "donkey", "eagle", "falcon", "ferret", "gecko", "heron", "hyena", "ibis", "jackal",
    "koala", "lemur", "llama", "marten", "newt", "otter", "panda", "quail", "raven", "salmon", "tapir", "urchin",
    "viper", "walrus", "yak", "zebra",
)  # fmt: skip

THINGS = (
    "anvil", "barrel", "basket", "bottle", "candle", "carpet", "drum", "easel", "flute", "globe", "hammer", "jigsaw",
    "kettle", "ladder", "lantern", "mirror", "needle", "oven", "pillow", "quilt", "ribbon", "saddle", "teapot",
    "umbrella", "vase", "wheel",
)  # fmt: skip

TREES = ("Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine", "Rowan", "Willow")
COLOURS = ("amber", "black", "blue", "brown", "green", "grey", "orange", "pink", "purple", "red", "white", "yellow")
DRINKS = ("cider", "cocoa", "coffee", "juice", "lemonade", "milk", "tea", "water")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
