"""The families of reasoning-gym 0.1.25: a table, so that listing them does not import the library.

A level here is a level of the family's own curriculum that yields a valid configuration and a generator
that ends within seconds; what is left out is said beside the table. `-` is a family without a usable
curriculum: one level, the default configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

SOURCE = "reasoning-gym"
VERSION = "0.1.25"

_TABLE = """
algebra      complex_arithmetic 0-3       intermediate_integration 0-7   polynomial_equations 0-3
algebra      polynomial_multiplication 0-3  simple_equations 0-3         simple_integration 0-3
algorithmic  ab 0-3                       base_conversion 0-4            binary_alternation 0-3
algorithmic  binary_matrix 0-3            caesar_cipher 0-1              count_primes 0-4
algorithmic  cryptarithm 0-3              game_of_life 0-3               game_of_life_halting 0-1
algorithmic  graph_color 0-3              group_anagrams 0-3             isomorphic_strings 0-3
algorithmic  jugs 0-1                     letter_counting 0-7            letter_jumble 0-4
algorithmic  manipulate_matrix 0-4        number_filtering 0-3           number_sorting 0-7
algorithmic  palindrome_generation 0-3    palindrome_partitioning 0-3    pool_matrix 0-3
algorithmic  ransom_note 0-3              rotate_matrix 0-4              rotten_oranges 0-3
algorithmic  sentence_reordering 0-3      spell_backward 0-4             spiral_matrix 0-3
algorithmic  string_insertion 0-3         string_manipulation 0-4        string_splitting 0-3
algorithmic  string_synthesis 0-3         word_ladder 0-2                word_sequence_reversal 0-3
algorithmic  word_sorting 0-4
arc          arc_1d 0-3                   arc_agi 0-3                    rearc 0-6
arithmetic   basic_arithmetic 0-4         bitwise_arithmetic 0-9         calendar_arithmetic 0-3
arithmetic   chain_sum 0-10               count_bits 0-4                 decimal_arithmetic 0-3
arithmetic   decimal_chain_sum 0-4        dice 0-3                       fraction_simplification 0-3
arithmetic   gcd 0-3                      gsm_symbolic -                 lcm 0-3
arithmetic   leg_counting 0-35            number_format 0-3              power_function 0-4
arithmetic   prime_factorization 0-3      products 0-10                  time_intervals 0-6
code         bf 0-2                       codeio 0-3
cognition    color_cube_rotation 0-4      figlet_font 0-5                modulo_grid 0,2-5
cognition    needle_haystack 0-3          number_sequence 0-3            rectangle_count 0-4
cognition    rubiks_cube 0-3
composite    composite -
games        boxnet 0-8                   countdown 0-4                  emoji_mystery 0-5
games        futoshiki 0-3                kakurasu 0-3                   knight_swap -
games        mahjong_puzzle 0-3           maze 0-3                       mini_sudoku 0-4
games        n_queens 0-4                 puzzle24 0-6                   rush_hour 0-3
games        sokoban 1-13                 sudoku 0-4                     survo 0-1
games        tower_of_hanoi 0-3           tsumego 0-3
geometry     advanced_geometry 0-3        simple_geometry 0-3
graphs       course_schedule 0-4          family_relationships 0-8       largest_island 0-3
graphs       path_star 0-3                quantum_lock 0-9               shortest_path 0-3
induction    acre -                       list_functions -
logic        aiw 0-8                      circuit_logic 0-4              knights_knaves 0-3
logic        propositional_logic 1-4      self_reference 0-9             syllogism 0-3
logic        zebra_puzzles 0-4
probability  coin_flip 0-12
"""

UNUSABLE_LEVELS = {
    "caesar_cipher": "2 and 3 ask for rotations above 25",
    "modulo_grid": "1 sets a largest target of 0",
    "rubiks_cube": "4 asks for a cube of size 7, the generator allows 6",
    "survo": "2 and 3 leave more cells empty than the generator allows",
    "knight_swap": "no level has the 6 squares that the generator asks for",
    "game_of_life_halting": "2 and 3 print a board with its middle left out",
    "propositional_logic": "0 has four questions, each answered by its own text",
    "jugs": "2 and 3 need 5 seconds to minutes a puzzle",
    "sokoban": "0 needs 4 seconds a puzzle",
    "zebra_puzzles": "5 needs 7 seconds a puzzle",
}
"""Why upstream levels are missing from the table."""


@dataclass(frozen=True, slots=True)
class Family:
    """One family of tasks."""

    name: str
    category: str
    upstream_levels: tuple[int | None, ...]
    """Level of the family's curriculum behind each of our levels; None is the default configuration."""

    @property
    def full_name(self) -> str:
        """Name of its domain, `reasoning-gym/<category>/<family>`."""
        return f"{SOURCE}/{self.category}/{self.name}"


def _levels(spec: str) -> tuple[int | None, ...]:
    if spec == "-":
        return (None,)
    ranges = [part.partition("-") for part in spec.split(",")]
    return tuple(level for low, _, high in ranges for level in range(int(low), int(high or low) + 1))


def _families() -> Iterator[Family]:
    for line in _TABLE.split("\n"):
        category, *rest = line.split() or [""]
        for name, spec in zip(rest[::2], rest[1::2], strict=True):
            yield Family(name, category, _levels(spec))


FAMILIES: dict[str, Family] = {family.name: family for family in _families()}
"""All 106 families by their own name."""
