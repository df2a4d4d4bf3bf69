"""Promises about noise and places: differential privacy, channels, the location service."""

from __future__ import annotations

from promises.promise import KEYS, Promise

NOISE: dict[str, Promise] = {
    "location-young": Promise(
        "has 12 or 40 mailboxes at addresses around a victim, three epochs early",
        (
            "location/test_sybils.py::test_made_up_neighbours_are_a_third_of_k_at_most",
            "location/test_sybils.py::test_the_service_limits_made_up_neighbours_in_each_group",
        ),
        "7 real addresses or more beside the victim for k = 10; fewer without the limit",
    ),
    "location-linked": Promise(
        "keeps everything, knows every home, and recognises new pseudonyms",
        (
            "location/test_linked.py::test_who_links_pseudonyms_finds_k_where_groups_are_retired",
            "location/test_linked.py::test_the_service_gives_nobody_a_second_place",
        ),
        "sets of k or more in 15 epochs; below k with ordinary cohorts",
    ),
    "location-joint": Promise(
        "keeps everything, and knows the home and the attributes of everybody",
        (
            "location/test_attributes.py::test_an_intruder_who_knows_place_and_attributes_of_everybody_finds_k",
            "location/test_attributes.py::test_attributes_never_change_while_a_group_lives_and_cannot_be_subtracted",
        ),
        "sets of k or more in 4 epochs; single people where homes alone are grouped",
    ),
    "location-sealed": Promise(
        "has the database and not the key of homes",
        ("location/test_keeping.py::test_a_copy_of_the_database_tells_no_home",),
        "no latitude, longitude or household in any row",
    ),
    "dp-presence": Promise(
        "knows everybody but one, and the method, and asks whether that one is in the table",
        (
            "dp/test_presence.py::test_a_record_more_of_random_tables",
            "dp/test_presence.py::test_a_record_more_of_every_tiny_table",
            "dp/test_audit.py::test_a_row_more_is_not_told",
            "dp/test_release.py::test_the_public_page_does_not_tell_the_number_of_rows",
        ),
        "both tables publish the same for equal draws, whose cost is at most ε; an auditor finds less than ε",
    ),
    "dp-files": Promise(
        "has two text files that differ in one record, and the draws",
        ("dp/test_files.py::test_neighbouring_files_become_the_same_release",),
        "the same lines and the same public page, in memory and over parts",
    ),
    "dp-resume": Promise(
        "breaks a run off between the parts, and has it go on with other noise",
        ("dp/test_parts.py::test_what_goes_on_publishes_one_draw",),
        "every row is of the first draw",
    ),
    "fresh-noise": Promise(
        "knows the originals' generator and guesses the seed",
        (
            "promises/test_seeds.py::test_two_calls_draw_differently_and_say_nothing",
            "promises/test_seeds.py::test_what_the_seed_of_the_past_undoes",
        ),
        "seven functions of seven draw anew; seeds 0 and 1 undo no release",
    ),
    "one-in-m": Promise(
        KEYS,
        (
            "attacks/test_records.py::test_a_place_with_one_coordinate_does_not_publish_it",
            "attacks/test_records.py::test_missing_is_missing_however_it_is_written",
        ),
        "no more than 1 in m+1",
    ),
    "noisy-counts": Promise(
        "knows the keys, the matrix, and tries all counts",
        ("attacks/test_matrix_counts.py::test_the_counts_of_a_ward_do_not_follow_from_the_printed_matrix",),
        "the true count is not the only one that fits",
    ),
    "budget": Promise(
        "knows all but who of two has which value",
        (
            "attacks/test_matrix_counts.py::test_the_best_guess_between_two_neighbours_is_no_better_than_stated",
        ),
        "Φ(μ/2) at most",
    ),
    "limit-by-noise": Promise(
        "knows all but who of two has which value, and sees every test",
        (
            "attacks/test_matrix_counts.py::test_a_test_of_a_limit_moves_by_one_where_two_people_exchange_values",
            "attacks/test_matrix_counts.py::test_a_test_of_covariances_looks_at_all_within_its_reach",
        ),
        "an exchange moves a test by one standard deviation times its μ at most: nothing beyond Φ(μ/2)",
    ),
    "limit-kept": Promise(
        "knows the keys of everybody, and the rules",
        (
            "attacks/test_matrix_counts.py::test_a_limit_on_the_risk_is_kept_whatever_the_table",
            "attacks/test_matrix_counts.py::test_a_rule_above_its_limit_passes_as_often_as_stated",
        ),
        "0 of 20 releases above in each of two tables, one where illness follows from age; 1 in 100 stated",
    ),
    "one-in-k": Promise(
        KEYS,
        (
            "table/test_write.py::test_a_table_is_refused_or_k_anonymous",
            "dossier/test_one_intruder.py::test_linkage_is_the_same_everywhere",
        ),
        "k or more records for every combination",
    ),
    "draws-again": Promise(
        "keeps all releases, and takes the mean of what was drawn for a person",
        (
            "promises/test_draws_again.py::test_a_year_of_draws_is_refused",
            "promises/test_draws_again.py::test_categories_and_methods_that_draw",
            "promises/test_draws_again.py::test_over_parts",
        ),
        "refused; a year of draws would be off by less than half of what one draw is",
    ),
    "dp": Promise(
        "knows everybody but one, and sees many releases of two neighbouring tables",
        (
            "dp/test_audit.py::test_the_promise_is_not_exceeded",
            "dp/test_audit.py::test_half_the_noise_is_found_out",
        ),
        "the audited ε is not above the stated one; with half the noise it is",
    ),
    "dp-steps": Promise(
        "knows all rows but one, and the steps",
        ("dp/test_public_steps.py::test_a_step_by_row_changes_no_other_row",),
        "no other row differs, in seven steps",
    ),
    "dp-strata": Promise(
        "knows all rows but those of one person",
        (
            "dp/test_public_steps.py::test_strata_are_private_one_by_one",
            "dp/test_public_steps.py::test_rows_of_a_person_count_in_all_strata_together",
        ),
        "every stratum is drawn from its own rows; too many rows in all strata together are refused",
    ),
    "dp-medians": Promise(
        "knows all rows but one, and all draws",
        ("dp/test_public_steps.py::test_tree_order_and_individual_pay_for_importance_and_medians",),
        "the same releases for 150 pairs of neighbours, at no more than ε",
    ),
}
