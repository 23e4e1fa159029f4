"""What a reasoning-gym scorer says, turned into right or wrong: one declared rule per exceptional family.

The usual rule is the family's own scorer with full marks, 1.0, as the threshold. Floors such as 0.01 and
credit for substrings disappear below it. The exceptions stand in `RULES`, for one of these reasons:
- the scorer evaluates the completion as Python (`string_insertion`, `spiral_matrix`, `binary_matrix`,
  `n_queens`) or hands it to sympy, which does (`countdown`, `puzzle24`, `polynomial_multiplication`, the
  two integrations): answers are compared or checked here, or pass a gate first;
- the scorer gives full marks for wrong answers (noted beside each);
- the scorer reads past text that does not belong to an answer: a pattern says what may stand there;
- the dataset gives no reference answer, but one can be told from its metadata.
An answer that equals the reference never meets a gate.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from burnish.rewards.expressions import exact_value, is_safe_expression

Entry = Mapping[str, Any]
Check = Callable[[str, Entry], bool]


def answer_of(entry: Entry) -> str | None:
    """The reference answer that comes with an item."""
    return entry["answer"]


@dataclass(frozen=True, slots=True)
class Rule:
    """How the answers of one family are judged."""

    reference: Callable[[Entry], str | None] = answer_of
    """The reference answer of an item, or None when the dataset has none."""
    replaces: Check | None = None
    """Decides alone; the family's scorer is not called."""
    gate: Check | None = None
    """An answer that fails is wrong and never reaches the scorer."""
    also: Check | None = None
    """What must hold besides full marks of the scorer."""
    threshold: float = 1.0
    """Marks that count as a success."""
    graded_above: float | None = None
    """With partial credit switched on, marks above this floor are kept; None = never partial."""
    verify_reference: bool = False
    """Skip items whose own reference answer does not get full marks."""
    seconds: float | None = None
    """Time limit of the scorer, for scorers whose work the length of an answer does not bound."""


def _equals(answer: str, entry: Entry) -> bool:
    return answer == str(entry["answer"]).strip()


def _equals_ignoring_case(answer: str, entry: Entry) -> bool:
    return answer.casefold() == str(entry["answer"]).strip().casefold()


def _equals_ignoring_space(answer: str, entry: Entry) -> bool:
    return answer.replace(" ", "").casefold() == str(entry["answer"]).replace(" ", "").strip().casefold()


def _equals_as_json(answer: str, entry: Entry) -> bool:
    parsed = _json(answer)
    return parsed is not None and parsed == _json(str(entry["answer"]))


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None


def _is_listed_solution(answer: str, entry: Entry) -> bool:
    return answer in [str(solution).strip() for solution in entry["metadata"]["valid_answers"]]


def _is_sorted_copy(answer: str, entry: Entry) -> bool:
    expected = [float(number) for number in entry["metadata"]["sorted_numbers"]]
    found = _json(answer.replace("'", '"'))
    if not isinstance(found, list) or len(found) != len(expected):
        return False
    pairs = zip(found, expected, strict=True)
    return all(_number(str(a)) is not None and abs(float(a) - b) <= 1e-6 for a, b in pairs)


def _number(text: str) -> float | None:
    cleaned = text.strip().strip("$").replace(",", "")
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", cleaned):
        return None
    return float(cleaned)


def _same_number(answer: str, entry: Entry) -> bool:
    number, expected = _number(answer), _number(str(entry["answer"]))
    return number is not None and number == expected


def _same_number_or_word(answer: str, entry: Entry) -> bool:
    return _equals_ignoring_case(answer, entry) or _same_number(answer, entry)


def _is_close_probability(answer: str, entry: Entry) -> bool:
    """Right to four decimals, and within 1% of what it should be, since some answers are below 1e-4."""
    if not re.fullmatch(r"\d+\s*/\s*\d+|\d*\.?\d+(e-?\d{1,2})?", answer.lower()):
        return False
    rational = entry["metadata"]["rational"]
    expected = Fraction(rational["numerator"], rational["denominator"])
    try:
        error = abs(Fraction(answer.replace(" ", "")) - expected)
    except (ValueError, ZeroDivisionError):
        return False
    return error <= Fraction(1, 20_000) and error <= expected / 100


def _is_significant_number(answer: str, entry: Entry) -> bool:
    """A finite number equal to three significant digits, zero only for zero."""
    number = _number(answer)
    expected = float(entry["answer"])
    return number is not None and math.isclose(number, expected, rel_tol=1e-2)


def _makes_target(answer: str, entry: Entry, target: int) -> bool:
    """Whether a formula uses each given number once and has the value of the target."""
    used = sorted(int(number) for number in re.findall(r"\d+", answer))
    given = sorted(int(number) for number in entry["metadata"]["numbers"])
    return "." not in answer and used == given and exact_value(answer) == target


def _makes_24(answer: str, entry: Entry) -> bool:
    return _makes_target(answer, entry, 24)


def _counts_down(answer: str, entry: Entry) -> bool:
    return _makes_target(answer, entry, int(entry["metadata"]["target"]))


_TRIGONOMETRY = {"sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan", "sinh", "cosh", "tanh"}
_FUNCTIONS = frozenset({*_TRIGONOMETRY, "exp", "log", "ln", "sqrt"})


def _is_integral_formula(answer: str, entry: Entry) -> bool:
    """A formula in the variable; without the gate, `Integral(f, x)` would be a right answer to any f."""
    return is_safe_expression(answer, {entry["metadata"]["variable"], "C", "E", "pi"}, _FUNCTIONS)


def _is_polynomial(answer: str, entry: Entry) -> bool:
    reference = str(entry["answer"])
    names = set(re.findall(r"[A-Za-z]+", reference))
    return is_safe_expression(answer, names, max_length=2 * len(reference) + 100, max_digits=300)


def _has_short_numbers(answer: str, _entry: Entry) -> bool:
    """No number above 99: the scorer repeats a move as often as it says."""
    return re.search(r"\d{3}", answer) is None


def _form(pattern: str) -> Check:
    """The gate that lets through answers which match a pattern as a whole."""
    compiled = re.compile(pattern)
    return lambda answer, _: compiled.fullmatch(answer) is not None


def _has_only_words_of_reference(answer: str, entry: Entry) -> bool:
    known = {*re.findall(r"\w+", str(entry["answer"]).lower()), "is", "a", "an", "and"}
    roles = {str(term).lower() for term in entry["metadata"].get("knight_knave_terms", {}).values()}
    return all(word in known | roles for word in re.findall(r"\w+", answer.lower()))


def _is_balanced(answer: str, _entry: Entry) -> bool:
    return len(answer) <= 200 and answer.count("(") == answer.count(")")


def _undo_scramble(entry: Entry) -> str | None:
    """The scramble backwards; None for moves such as 2R, which the scorer cannot read."""
    moves = entry["metadata"]["scramble_moves"].split()
    if any(move[0].isdigit() for move in moves):
        return None
    return " ".join(move[:-1] if move.endswith("'") else f"{move}'" for move in reversed(moves))


def _possible_colouring(entry: Entry) -> str:
    colouring = entry["metadata"]["possible_answer"]
    return json.dumps({str(vertex): colour for vertex, colour in colouring.items()})


def _example_conclusion(entry: Entry) -> str:
    return entry["metadata"]["example_answer"]


_DECIMAL = r"[+-]?(\d+\.?\d*|\.\d+)"

DEFAULT = Rule()

RULES: dict[str, Rule] = {
    # Scorers that evaluate the completion as Python; full marks are for equality anyway.
    "string_insertion": Rule(replaces=_equals),
    "spiral_matrix": Rule(replaces=_equals),
    "binary_matrix": Rule(replaces=_equals),
    "n_queens": Rule(replaces=_is_listed_solution),
    # Scorers that hand the completion to sympy.
    "countdown": Rule(replaces=_counts_down),
    # ... and whose scorer asks neither for the given numbers nor for exactly 24 (24.9 is cut to 24).
    "puzzle24": Rule(replaces=_makes_24),
    "polynomial_multiplication": Rule(gate=_is_polynomial, seconds=5.0),
    "simple_integration": Rule(gate=_is_integral_formula, seconds=5.0),
    "intermediate_integration": Rule(gate=_is_integral_formula, seconds=5.0),
    # Full marks for wrong answers.
    "game_of_life_halting": Rule(replaces=_equals_ignoring_case),  # any text is "true" to its scorer
    "coin_flip": Rule(replaces=_is_close_probability),  # "0" shares its whole prefix with 0.5
    "number_sorting": Rule(replaces=_is_sorted_copy),  # numbers may be off by 1, NaN equals anything
    "calendar_arithmetic": Rule(also=_same_number_or_word),  # a reference of -1 turns error into bonus
    "gsm_symbolic": Rule(replaces=_same_number),  # "-5" is read as 5
    "power_function": Rule(also=_is_significant_number),  # fails to compare zeros and huge numbers
    "spell_backward": Rule(also=_equals_ignoring_case),  # letter credit can sum to 1 for a longer answer
    "figlet_font": Rule(also=_equals_ignoring_space),  # ten right letters are enough
    "letter_jumble": Rule(also=_equals_ignoring_case, graded_above=0.0),  # the right words may go on
    "game_of_life": Rule(also=_equals_as_json),  # cells beyond the board are not looked at
    "complex_arithmetic": Rule(gate=_form(r"[\d\s.+\-*ijIJ()]+")),  # NaN scores 1
    # Scorers that read past what does not belong to an answer.
    "advanced_geometry": Rule(gate=_form(rf"{_DECIMAL}\s*°?|\(?{_DECIMAL}\s*,\s*{_DECIMAL}\)?")),
    "fraction_simplification": Rule(
        gate=_form(r"\$?\s*(\d+\s*/\s*\d+|\\d?frac\s*\{\s*\d+\s*\}\s*\{\s*\d+\s*\})\s*\$?")
    ),
    "kakurasu": Rule(gate=_form(r"[01\s]+")),
    "knights_knaves": Rule(gate=_has_only_words_of_reference),
    "polynomial_equations": Rule(gate=_form(rf"{_DECIMAL}(\s*,\s*{_DECIMAL})*")),
    "quantum_lock": Rule(gate=_form(r"[A-Ca-c\s,→>-]+")),
    "sokoban": Rule(gate=_form(r"[UDLR\s,]+")),
    "survo": Rule(gate=_form(r"[\d\s-]+")),
    # Slow for reasons of their own.
    "codeio": Rule(replaces=_equals_as_json),  # tree edit distance, cubic in the length of the answer
    "propositional_logic": Rule(
        reference=_example_conclusion,
        gate=_is_balanced,
        verify_reference=True,
        seconds=5.0,
    ),
    "rubiks_cube": Rule(reference=_undo_scramble, gate=_has_short_numbers),
    "rush_hour": Rule(gate=_has_short_numbers),
    # Reference answers from elsewhere, or not always right.
    "graph_color": Rule(reference=_possible_colouring),
    "jugs": Rule(verify_reference=True),  # the reference solver knows three jugs only
    # Graded in earnest.
    "boxnet": Rule(graded_above=0.05),
    "sentence_reordering": Rule(graded_above=0.05),
    "word_sorting": Rule(graded_above=0.0),
    "rectangle_count": Rule(graded_above=0.0),
    "time_intervals": Rule(
        gate=_form(r"-?\d+(\s+days?)?|(-?\d+ days?,\s*)?-?\d+:\d+(:\d+(\.\d+)?)?"), graded_above=0.0
    ),
    "emoji_mystery": Rule(graded_above=0.01),
    "tower_of_hanoi": Rule(graded_above=0.05),
    "knight_swap": Rule(graded_above=0.05),
    "mini_sudoku": Rule(graded_above=0.0),
    "sudoku": Rule(graded_above=0.0),
    "futoshiki": Rule(graded_above=0.0),
}


def rule_of(family: str, entry: Entry) -> Rule:
    """The rule for an item of a family; an item of the composite goes by the family it came from."""
    origin = entry["metadata"].get("source_dataset", family) if family == "composite" else family
    return RULES.get(origin, DEFAULT)
