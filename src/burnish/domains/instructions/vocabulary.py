"""Words that requests and reference responses are made of."""

from __future__ import annotations


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GENRES = (
    "a short text", "a short note", "a short description", "a short story", "a short advertisement",
    "a short message to a friend", "a short news item", "a short diary entry", "a short letter",
    "a short announcement", "a short piece of advice", "a short scene", "a short review",
    "a short explanation", "a short speech", "a short travel report",
)  # fmt: skip
"""What is to be written."""

TOPICS = _split(
    """
    harbour garden bicycle market mountain library winter kitchen orchestra desert bakery museum
    forest bridge island train piano castle farm engine volcano school theatre ocean hospital
    village lamp camera painting coffee breakfast football festival weather satellite window blanket
    umbrella elephant penguin lemon pumpkin ladder hammer puzzle chess violin subway airport canal
    meadow glacier lighthouse tunnel factory robot telescope compass recipe honey spider eagle
    dolphin squirrel tulip oak snow storm river rainbow sunrise holiday birthday wedding journey
    memory dream silence music bread soup cheese silk wool clay salt stone gold
    """
)
"""Subjects of requests."""

KEYWORDS = _split(
    """
    anchor basket candle dancer envelope feather guitar helmet insect jacket kettle ladle mirror
    needle orchid pencil quarry ribbon saddle ticket urchin velvet walnut yogurt zipper bottle
    carpet drawer flour ginger handle jungle kernel locket magnet napkin oyster parrot rabbit sailor
    thread uncle visitor wizard yellow balloon copper dagger falcon goblin hunter ivory jewel marble
    nickel olive powder rocket shadow timber vapour whistle
    """
)
"""Words that a request can demand; none is a topic or a filler."""

COMMON = _split(
    """
    the and is of to in with for that are on was at from
    """
)
"""Words that a request can forbid."""

ADJECTIVES = _split(
    """
    quiet bright little old warm cold green brown broad simple gentle useful happy busy round small
    wild vast kind young odd frozen humble jolly long mellow neat open pale rich tidy upper vivid
    zesty extraordinary magnificent comfortable
    """
)
NOUNS = _split(
    """
    people children birds rivers houses trees gardeners boats hills roads lights songs clouds
    friends doors fields apples animals cats dogs engineers ideas insects jars kites letters nights
    oceans parks queens rooms stars towns uncles views workers yards zebras travellers neighbours
    conversations
    """
)
VERBS = _split(
    """
    love carry find follow keep paint see want visit bring build help join enjoy admire inspect know
    leave move notice offer pull raise share take use value watch yield understand celebrate
    remember
    """
)
JOINTS = _split(
    """
    while but because as so or when yet
    """
)
"""Fillers by kind."""

_CYRILLIC = _split(
    """
    море город дом река лес снег хлеб дождь ветер окно книга школа музыка утро вечер дорога гора сад
    поле озеро мост рынок поезд лето зима весна осень птица рыба лошадь дерево цветок небо звезда
    луна солнце камень песня письмо друг
    """
)
_GREEK = _split(
    """
    θάλασσα πόλη σπίτι δρόμος δάσος χιόνι ψωμί βροχή άνεμος παράθυρο βιβλίο σχολείο μουσική πρωί
    βράδυ βουνό κήπος λίμνη γέφυρα αγορά τρένο άνοιξη ποτάμι πουλί ψάρι άλογο δέντρο λουλούδι
    ουρανός αστέρι φεγγάρι ήλιος πέτρα τραγούδι γράμμα φίλος νησί καράβι φως νερό
    """
)
FOREIGN = {"Cyrillic": _CYRILLIC, "Greek": _GREEK}
"""Words of other scripts, as topics and as fillers."""

ACROSTICS = (
    ("sun", "map", "tea", "oak", "ice", "gym", "web", "zoo"),
    ("moon", "wind", "gold", "fish", "lamp", "rose", "bike", "jazz"),
    ("stone", "water", "flame", "green", "night", "queen", "vivid"),
    ("bridge", "winter", "guitar", "yellow", "friend", "pocket", "lunch", "humble"),
)
"""Words that first letters spell, by level."""

OPENINGS = (
    "Listen carefully", "Here is the news", "Once upon a time", "Dear reader", "Good morning everyone",
    "To be honest", "Believe it or not", "Let me explain", "It began at noon", "First things first",
)  # fmt: skip
CLOSINGS = (
    "That is all.", "Thank you for reading.", "See you soon.", "The end.", "Nothing more to say.",
    "Have a good day.", "And so it goes.", "Ask me anything.", "This is my answer.", "Until next time.",
)  # fmt: skip
LABELS = (
    "Name", "Place", "Colour", "Price", "Size", "Origin", "Use", "History", "Season", "Weight", "Owner",
    "Sound", "Taste", "Risk", "Rule",
)  # fmt: skip
"""Names of fields."""
