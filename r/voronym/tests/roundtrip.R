# What R hands over comes back as it was; k is counted here, by R.
library(voronym)

if (!vr_available()) {
  cat("skipped: there is no program voronym\n")
  quit(status = 0)
}

set.seed(7)
n <- 80
people <- data.frame(
  age = sample(c(20:60, NA), n, TRUE),
  sex = factor(sample(c("f", "m"), n, TRUE)),
  school = factor(sample(c("low", "mid", "high"), n, TRUE), c("low", "mid", "high", "more"), ordered = TRUE),
  born = as.Date("1950-01-01") + sample(c(0:9000, NA), n, TRUE),
  `a,b=c` = sample(c("caf\u00e9 \"x\"", "=1+1", " b", "two\nlines", NA), n, TRUE),
  paid = c(0.1 + 0.2, 1e-9, round(runif(n - 2), 1)),
  owns = sample(c(TRUE, FALSE, NA), n, TRUE),
  seen = as.POSIXct("2024-03-30 23:30:00", tz = "Europe/Madrid") + 3600 * sample(5, n, TRUE),
  check.names = FALSE
)
roof <- structure(
  sample(c(1, 2, 9), n, TRUE), class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"),
  labels = c(tin = 1, tile = 2, `no answer` = 9), na_values = 9, label = "Roof"
)
people$roof <- roof
keys <- c("age", "sex", "school", "born")
others <- setdiff(names(people), c(keys, "a,b=c"))

release <- suppressWarnings(vr_anonymize(people, keys, confidential = "a,b=c", other = others, k = 4))

sizes <- table(do.call(paste, c(lapply(release[keys], as.character), sep = "\r")))
stopifnot(
  nrow(release) == n, min(sizes) >= 4, attr(release, "voronym")$k == min(sizes),
  identical(names(release), names(people)),
  identical(lapply(release[keys], class), lapply(people[keys], class)),
  identical(levels(release$school), levels(people$school)), identical(levels(release$sex), levels(people$sex)),
  is.integer(release$age),
  identical(table(release[["a,b=c"]], useNA = "always"), table(people[["a,b=c"]], useNA = "always")),
  identical(sort(release$paid), sort(people$paid)),
  identical(table(release$owns, useNA = "always"), table(people$owns, useNA = "always")),
  identical(sort(release$seen), sort(people$seen)),
  identical(attributes(release$roof), attributes(roof)), identical(sort(c(unclass(release$roof))), sort(c(unclass(roof))))
)

# Two records of the kept columns stay together: the release shuffles whole rows.
whole <- function(frame) sort(do.call(paste, c(lapply(frame[c("a,b=c", "paid", "owns", "roof")], format), sep = "\r")))
stopifnot(identical(whole(release), whole(people)))

# The sentences are those of the program, as conditions.
wrong <- tryCatch(vr_anonymize(people, "agee"), voronym_error = conditionMessage)
stopifnot(grepl("agee", wrong), !grepl("^error", wrong))
few <- tryCatch(vr_anonymize(people["age"], "age", k = 500), voronym_unmet = conditionMessage)
stopifnot(grepl("k=500 cannot be reached with 80 records", few, fixed = TRUE))
blank <- tryCatch(vr_measure(data.frame(x = c("", "a")), "x"), voronym_warning = conditionMessage)
stopifnot(grepl("empty texts count as missing values in: x", blank))

measured <- vr_measure(release, original = people)
stopifnot(measured$findings$value[measured$findings$model == "k-anonymity"] == min(sizes))
if (requireNamespace("haven", quietly = TRUE)) stopifnot(haven::is.labelled(release$roof))
cat("k counted by R:", min(sizes), "\n")
