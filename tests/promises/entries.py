"""Every sentence about privacy that is marked in README, documentation or docstrings, and what attacks it.

A sentence of a page is marked by ``<!-- promise: key -->`` before it, one of a docstring by a comment
``# promise: key`` in its module and the words here.
"""

from __future__ import annotations

from promises.noise_entries import NOISE
from promises.promise import KEYS, USER, Promise

PROMISES: dict[str, Promise] = {
    **NOISE,
    "readme-centre": Promise(
        KEYS,
        (
            "table/test_write.py::test_what_is_written_is_k_anonymous",
            "table/test_write.py::test_a_cell_of_less_than_k_leaves_no_file",
        ),
        "no combination below k in any format; a file with one gets no name",
    ),
    "readme-refused": Promise(
        KEYS,
        ("cli/test_cli.py::test_a_guarantee_that_cannot_be_met_is_exit_code_3_and_no_file",),
        "exit code 3, and no file",
    ),
    "k-anonymity": Promise(
        KEYS,
        ("table/test_write.py::test_a_table_is_refused_or_k_anonymous",),
        "k or more records for every combination",
    ),
    "records-crowd": Promise(
        KEYS + ", and how columns go together",
        ("attacks/test_records.py::test_columns_that_follow_from_keys_are_measured_and_named",),
        "what is found beyond 1 in m+1 is measured and named",
    ),
    "ledger-file": Promise(
        USER,
        ("history/test_ledger.py::test_the_file_holds_nobodys_values_and_is_for_its_owner",),
        "mode 0600, or refused",
    ),
    "ledger-values": Promise(
        "has the ledger",
        ("history/test_ledger.py::test_the_file_holds_nobodys_values_and_is_for_its_owner",),
        "no value of the table in its bytes",
    ),
    "kept-groups": Promise(
        "has two releases",
        ("history/test_ledger.py::test_a_group_that_lives_publishes_the_same_again",),
        "the same rows again",
    ),
    "page-alone": Promise(
        "another computer",
        ("web/test_attacks.py::test_a_request_from_elsewhere",),
        "403 for each of ten requests",
    ),
    "page-process-list": Promise(
        USER + ", who reads the list of processes",
        ("promises/test_page_token.py::test_the_token_is_not_in_the_list_of_processes",),
        "no token; a 0600 file in a 0700 folder, gone once it was used",
    ),
    "page-token": Promise(
        USER,
        (
            "web/test_attacks.py::test_tokens_are_good_once_and_not_guessed",
            "promises/test_page_token.py::test_the_way_from_a_file_needs_the_token",
        ),
        "403 for used, wrong and cut tokens",
    ),
    "page-host": Promise(
        "another site in the same browser", ("web/test_attacks.py::test_a_request_from_elsewhere",), "403"
    ),
    "households": Promise(
        "knows a family's keys",
        (
            "test_people.py::test_every_group_has_people_of_k_households",
            "promises/test_ranges.py::test_a_zip_of_one_household_is_not_named",
        ),
        "k households in every group; no list names the zip of fewer",
    ),
    "mean": Promise(
        "looks for a firm that stands for 500",
        ("promises/test_weights.py::test_the_turnover_of_a_firm_that_stands_for_many",),
        "to 0.1 % no more often than without weights, give or take 5 %",
    ),
    "tail-limit": Promise(
        "reads the published limit",
        ("promises/test_tails.py::test_no_limit_is_somebodys_value",),
        "2 of 60 limits at most are also somebody's value, by chance; k people beyond each",
    ),
    "tail-between": Promise(
        "has two releases, and knows who joined the tail and what all but one of them have",
        (
            "promises/test_tails_between.py::test_one_giant_among_k_newcomers",
            "promises/test_tails_between.py::test_one_giant_among_k_leavers",
            "promises/test_tails_between.py::test_a_corrected_income",
        ),
        "the income of 0 of 6 newcomers, leavers and corrected people each, to 1 %; of some without the rule",
    ),
    "histories": Promise(
        "keeps all releases, knows everybody's keys and who was in which table",
        (
            "history/test_random_histories.py::test_nobody_is_told_apart",
            "history/test_random_histories.py::test_nobody_is_told_apart_in_two_hundred_histories",
        ),
        "no set below k in pairs and triples of 200 histories of ten months",
    ),
    "differences": Promise(
        "keeps all releases, and takes sums of groups and tails off each other",
        (
            "history/test_random_histories.py::test_nobody_is_told_apart",
            "history/test_random_histories.py::test_nobody_is_told_apart_in_two_hundred_histories",
        ),
        "no sum of 1 to k - 1 people in the same histories",
    ),
    "retire": Promise(
        "the same, and recognises the rows of a person in all releases",
        ("history/test_random_histories.py::test_nobody_is_told_apart",),
        "no set below k in the histories that retire groups",
    ),
    "page-wiped": Promise(
        "reads the disk after voronym ended, or was killed",
        (
            "web/test_desk.py::test_an_idle_desk_is_wiped_and_locked",
            "web/test_desk.py::test_what_a_killed_server_left_is_wiped_by_the_next",
        ),
        "an empty folder",
    ),
    "household-patterns": Promise(
        "knows a family, and joins rows by pseudonyms",
        (
            "test_people.py::test_households_kept_together_share_their_whole_pattern",
            "test_people.py::test_rare_sizes_get_no_pseudonym",
        ),
        "k households or more with every pattern",
    ),
    "gaps-by-keys": Promise(
        "knows the keys of everybody, and looks at where gaps are",
        ("promises/test_shown.py::test_gaps_are_chosen_by_keys_alone",),
        "the same gaps, whatever the confidential values are",
    ),
    "left-out-twice": Promise(
        "has two releases, and knows whom each left out",
        (
            "methods/test_leaving_people.py::test_no_history_is_shared_by_fewer_than_k",
            "methods/test_leaving_people.py::test_people_of_an_earlier_release_do_not_leave",
        ),
        "no set of 1 to k - 1 people",
    ),
    "steps-seed": Promise(
        "has the recipe with its seed",
        ("promises/test_seeds.py::test_steps_never_draw_from_the_seed",),
        "another draw each time",
    ),
    "own-category": Promise(
        "looks for a category that one person has",
        ("promises/test_shown.py::test_a_category_of_one_person_is_not_published_beside_others",),
        "published by no group that has another one",
    ),
    "shapes": Promise(
        "reads what `inspect` prints",
        ("promises/test_shown.py::test_inspect_shows_the_shape_of_values",),
        "no value of the table",
    ),
    "fetched": Promise(
        USER,
        ("promises/test_shown.py::test_what_is_fetched_is_for_its_owner_and_removed",),
        "mode 0700, and gone afterwards",
    ),
    "put-whole": Promise(
        "looks at the address after a run that failed",
        ("table/test_places.py::test_the_address_stays_as_it_was_where_a_report_fails",),
        "what was there before",
    ),
    "report-nobody": Promise(
        KEYS,
        (
            "dossier/test_one_intruder.py::test_groups_of_one_value_are_the_same_everywhere",
            "dossier/test_disclosed.py::test_counted_by_hand",
        ),
        "the attack finds as many people as the report says",
        words="nobody’s value is certain from the keys",
    ),
    "report-hides": Promise(
        KEYS,
        ("table/test_write.py::test_a_table_is_refused_or_k_anonymous",),
        "k or more records for every combination",
        words="It hides who is who among",
    ),
    "page-ledger": Promise(
        "has two releases of one table, made on the page with one ledger",
        ("web/test_ledger.py::test_two_releases_of_one_table_do_not_go_out_unchecked",),
        "the second is refused, made before the download of the first or after",
    ),
    "means-between": Promise(
        "has two releases, knows all weights, and who is in which group",
        (
            "promises/test_tails_between.py::test_one_member_of_a_group_changes",
            "promises/test_tails_between.py::test_means_that_a_step_makes_of_a_column",
            "promises/test_tails_between.py::test_who_is_heavy_is_who_stands_for_most_of_some_k_people",
        ),
        "the income of 0 of 6 people whose weight or income changed; of some without the rule",
    ),
    "blind": Promise(
        "knows the keys of everybody, the program and the recipe, and tries all worlds",
        (
            "enforce/test_method.py::test_who_knows_the_method_is_certain_unless_it_is_blind",
            "enforce/test_method.py::test_all_worlds_where_partners_were_joined",
            "enforce/test_method.py::test_the_chance_of_a_world_does_not_depend_on_who_has_which_value",
        ),
        "surer than the counts by 0.00 in all worlds of 5 to 9 people (0.75 by confidential-first)",
    ),
    "household-column": Promise(
        "knows a family, and joins rows by what a household shares",
        (
            "attacks/test_household_pattern.py::test_a_rent_is_refused",
            "attacks/test_household_pattern.py::test_without_rent_nothing_is_joined",
        ),
        "a column that joins members is refused; without one nothing is joined (62 % of households before)",
    ),
    "internal-page": Promise(
        USER,
        ("report/test_exposed.py::test_an_internal_page_is_for_its_owner",),
        "mode 0600 (0644 before)",
    ),
    "range-ends": Promise(
        "knows one exact value of a person",
        ("promises/test_ranges.py::test_a_zip_of_one_household_is_not_named",),
        "every end and name is of k people, or households",
    ),
    "own-folder": Promise(
        USER,
        (
            "promises/test_planted.py::test_who_watches_the_folder_sees_no_way_in",
            "promises/test_planted.py::test_a_folder_that_is_swapped_is_noticed",
        ),
        "another random name each time, mode 0700; a folder that is swapped is refused",
    ),
    "no-code": Promise(
        USER,
        (
            "promises/test_planted.py::test_nothing_is_unpickled",
            "promises/test_planted.py::test_an_executors_message_is_no_code",
        ),
        "no module reads a pickle",
    ),
    "foreign-folder": Promise(
        USER,
        (
            "promises/test_planted.py::test_a_planted_work_folder",
            "promises/test_planted.py::test_the_old_attack_from_the_command_line",
        ),
        "no code ran, nothing was read or written, in 12 ways to plant",
    ),
    "two-runs": Promise(
        "a second run, at any moment",
        (
            "promises/test_races.py::test_folders",
            "promises/test_races.py::test_sets_of_files",
            "promises/test_races.py::test_a_ledger",
            "promises/test_races.py::test_resumed_runs",
            "promises/test_races.py::test_a_dead_run_holds_nothing",
        ),
        "one of the two, whole, or refused, with a stop at every step",
    ),
    "run-log": Promise(
        "reads the log and the figures of a run",
        (
            "scale/test_watching.py::test_log_and_figures_tell_stages_and_no_values",
            "scale/test_watching.py::test_a_run_that_fails_is_told_by_its_kind",
        ),
        "no value, no name of a column, no name of a file",
    ),
    "digests": Promise(
        "changes files between count and name",
        ("promises/test_races.py::test_what_was_counted_gets_the_name",),
        "refused",
    ),
    "gaps": Promise(
        KEYS,
        ("methods/test_local_suppression.py::test_whoever_does_the_work_again_finds_k_of_each",),
        "k or more of each kind",
    ),
    "doc-anonymize": Promise(
        KEYS,
        ("table/test_write.py::test_a_table_is_refused_or_k_anonymous",),
        "k or more records",
        "so that no combination of keys points to fewer than k of them",
    ),
    "doc-ledger": Promise(
        "has the ledger",
        ("history/test_ledger.py::test_the_file_holds_nobodys_values_and_is_for_its_owner",),
        "no value in its bytes",
        "It holds nobody's values.",
    ),
    "doc-budget": Promise(
        "knows all but who of two has which value",
        (
            "attacks/test_matrix_counts.py::test_the_best_guess_between_two_neighbours_is_no_better_than_stated",
        ),
        "Φ(μ/2) at most",
        "An intruder who knows everything else is right with probability at most Φ(μ/2)",
    ),
    "doc-records": Promise(
        KEYS,
        ("attacks/test_records.py::test_missing_is_missing_however_it_is_written",),
        "1 in m+1 at most",
        "finds the record of a given person with a probability of at most 1/(m+1)",
    ),
    "doc-chance": Promise(
        "guesses the seed",
        ("promises/test_seeds.py::test_two_calls_draw_differently_and_say_nothing",),
        "seven of seven draw anew",
        "masking draws from the system's generator, unless the user gives a seed",
    ),
    "doc-store": Promise(
        USER,
        ("promises/test_planted.py::test_nothing_is_unpickled",),
        "no module reads a pickle",
        "nothing that could run is read",
    ),
    "doc-atomic": Promise(
        "a second run, at any moment",
        ("promises/test_races.py::test_sets_of_files",),
        "the last one is there, whole",
        "the last set of files is there completely",
    ),
    "doc-guard": Promise(
        "another site in the same browser",
        ("web/test_attacks.py::test_a_request_from_elsewhere",),
        "403",
        "It must come from the page or from the address bar, never from another site",
    ),
    "doc-limits": Promise(
        "reads the ends of a column",
        ("promises/test_channel.py::test_clipping_publishes_nobodys_end",),
        "no end of one person in 80 releases",
        "clipped to round numbers near the ends of the range, each of which stands for several people",
    ),
    "doc-population": Promise(
        "knows the keys of the whole population",
        ("promises/test_population_bound.py::test_noise_finds_no_more_people_than_the_report_says",),
        "fewer matches than the report says, by `channel` and by `dp`",
        "So matches are right no more often than with the original keys",
    ),
}
