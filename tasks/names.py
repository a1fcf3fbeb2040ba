"""Invented given names, long enough a list that no instance repeats one."""

NAMES = (
    "Ada", "Arno", "Bela", "Britt", "Caro", "Cleo", "Dima", "Doro", "Edda", "Enno", "Falk", "Fritzi", "Gero", "Gita",
    "Hilde", "Hugo", "Igor", "Ines", "Jona", "Jule", "Karla", "Kira", "Lars", "Lotte", "Mila", "Moritz", "Nele", "Nico",
    "Olga", "Pavel", "Quin", "Rosa", "Sven", "Tara", "Udo", "Vera", "Wim", "Xenia", "Yara", "Zeno",
)  # fmt: skip
