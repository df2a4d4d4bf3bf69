# What a user calls.

vr_anonymize <- function(data, keys, confidential = NULL, identifiers = NULL, other = NULL, k = 5, ...) {
  folder <- private()
  on.exit(unlink(folder, recursive = TRUE))
  from <- file.path(folder, "data.csv")
  to <- file.path(folder, "release.csv")
  given <- list(...)
  roles <- list(key = keys, confidential = confidential, identifier = identifiers, other = other)
  named <- c(unlist(roles), unlist(given[c("strata", "weights", "person", "household", "location")]))
  words <- c(
    put(data, from), declared(data, named), flags(roles), if (!is.null(k)) c("-k", number(k)), flags(given)
  )
  printed <- run(c("anonymize", from, "-o", to, "--no-guard", "--json", words), sys.call())
  figures <- parsed(printed)
  release <- take(to, data)
  # What describes the originals stays out of an object that somebody may save and publish.
  attr(release, "voronym") <- list(
    keys = keys, confidential = confidential, k = figures$written$k_counted,
    version = figures$versions$voronym, public = figures$public
  )
  release
}

vr_measure <- function(data, keys = NULL, confidential = NULL, original = NULL, k = NULL, ...) {
  judge("measure", data, keys, confidential, original, c(list(k = k), list(...)), sys.call())
}

vr_attack <- function(data, keys = NULL, confidential = NULL, original = NULL, ...) {
  judge("attack", data, keys, confidential, original, list(...), sys.call())
}

vr_report <- function(data, keys, file, public = FALSE, overwrite = FALSE, ...) {
  written <- list(path.expand(file))
  names(written) <- if (public) "public_report" else "report"
  invisible(do.call(vr_anonymize, c(list(data, keys), written, list(overwrite = overwrite), list(...))))
}

judge <- function(verb, data, keys, confidential, original, given, call) {
  about <- attr(data, "voronym")
  if (is.null(keys)) {
    keys <- about$keys
    confidential <- if (is.null(confidential)) about$confidential else confidential
  }
  if (is.null(keys)) stop("'keys' names no column: give the columns that an intruder may know", call. = FALSE)
  folder <- private()
  on.exit(unlink(folder, recursive = TRUE))
  path <- file.path(folder, "data.csv")
  words <- c(
    put(data, path), declared(data, c(keys, confidential)),
    flags(list(key = keys, confidential = confidential)), flags(given)
  )
  if (!is.null(original)) {
    beside <- file.path(folder, "original.csv")
    words <- c(words, "--original", beside, put(original, beside, "original-"))
  }
  parsed(run(c(verb, path, "--json", words), call))
}

parsed <- function(lines) jsonlite::fromJSON(paste(lines, collapse = "\n"), simplifyDataFrame = TRUE)

#' Make a folder that only its owner can read.
private <- function() {
  folder <- tempfile("voronym-")
  dir.create(folder, mode = "0700")
  folder
}
