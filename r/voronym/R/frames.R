# Data frames as text files and back. Each column is declared, so that nothing is guessed.

#' Return the kind of a column for voronym, or NULL where it has none.
kind <- function(column) {
  if (is.ordered(column)) return("ordinal")
  if (inherits(column, c("Date", "POSIXct"))) return("datetime")
  if (inherits(column, "haven_labelled") && is.numeric(unclass(column))) {
    left <- setdiff(bare(column)[!missing_code(column)], attr(column, "labels"))
    return(if (all(is.na(left))) "nominal" else "numeric")
  }
  if (is.factor(column) || is.character(column) || is.logical(column)) return("nominal")
  if (is.numeric(column)) return("numeric")
  NULL
}

bare <- function(column) {
  attributes(column) <- NULL
  column
}

#' Tell which values a haven column declares missing.
missing_code <- function(column) {
  values <- bare(column)
  range <- attr(column, "na_range")
  listed <- values %in% attr(column, "na_values")
  if (is.null(range)) listed else listed | (!is.na(values) & values >= range[1] & values <= range[2])
}

#' Spell numbers so that they are read back as the same.
number <- function(values) {
  text <- sprintf("%.15g", values)
  lossy <- is.finite(values) & suppressWarnings(as.numeric(text)) != values
  text[lossy] <- sprintf("%.17g", values[lossy])
  text[is.na(values)] <- NA
  text
}

cells <- function(column) {
  if (is.factor(column)) return(enc2utf8(as.character(column)))
  if (inherits(column, "Date")) return(format(column, "%Y-%m-%d"))
  if (inherits(column, "POSIXct")) return(format(column, "%Y-%m-%d %H:%M:%S", tz = "UTC"))
  if (inherits(column, "haven_labelled")) column <- bare(column)
  if (is.logical(column)) return(as.character(column))
  if (is.numeric(column)) return(number(unclass(column)))
  enc2utf8(as.character(column))
}

quoted <- function(text) paste0("\"", gsub("\"", "\"\"", text, fixed = TRUE), "\"")

#' Write a data frame as text that voronym reads, and return the flags that declare it.
put <- function(data, path, prefix = "") {
  if (!is.data.frame(data)) stop("'data' must be a data frame", call. = FALSE)
  kinds <- lapply(data, kind)
  odd <- names(data)[vapply(kinds, is.null, NA)]
  if (length(odd)) {
    stop("voronym cannot read columns of this type: ", paste(odd, collapse = ", "), call. = FALSE)
  }
  written <- lapply(data, cells)
  empty <- names(data)[vapply(written, function(cell) any(cell == "", na.rm = TRUE), NA)]
  if (length(empty)) {
    signal("warning", paste(
      "empty texts count as missing values in:", paste(empty, collapse = ", ")
    ), NULL)
  }
  numbers <- vapply(kinds, identical, NA, "numeric")
  body <- Map(function(cell, plain) ifelse(is.na(cell), "", if (plain) cell else quoted(cell)), written, numbers)
  file <- file(path, "wb")
  on.exit(close(file))
  writeLines(paste(quoted(enc2utf8(names(data))), collapse = ","), file, useBytes = TRUE)
  writeLines(do.call(paste, c(unname(body), sep = ",")), file, useBytes = TRUE)
  form <- c("delimiter", ",", "decimal", ".", "encoding", "utf-8")
  words <- c(rbind(paste0("--", prefix, form[c(TRUE, FALSE)]), form[c(FALSE, TRUE)]), paste0("--", prefix, "header"))
  c(words, coded(data, prefix))
}

#' Return the flags for codes that haven columns declare missing.
coded <- function(data, prefix) {
  words <- character()
  for (name in names(data)[vapply(data, inherits, NA, "haven_labelled_spss")]) {
    codes <- unique(cells(data[[name]])[missing_code(data[[name]])])
    words <- c(words, rbind(paste0("--", prefix, "missing"), paste0(name, "=", codes)))
  }
  words
}

#' Return the flags for the kinds of some columns and the order of their levels.
declared <- function(data, names) {
  words <- character()
  for (name in intersect(names, names(data))) {
    this <- kind(data[[name]])
    if (this == "ordinal") {
      words <- c(words, "--order", paste0(name, "=", paste(steps(data[[name]], name), collapse = "<")))
    } else {
      words <- c(words, "--kind", paste0(name, "=", this))
    }
  }
  words
}

steps <- function(column, name) {
  if (any(grepl("<", levels(column), fixed = TRUE))) {
    stop("levels of '", name, "' contain '<', which stands between levels: rename them", call. = FALSE)
  }
  levels(column)
}

#' Read a release as a data frame whose columns have the types of the data it was made from.
take <- function(path, data) {
  # One pass of readLines marks the text as UTF-8, whatever the locale is.
  lines <- readLines(path, encoding = "UTF-8", warn = FALSE)
  text <- read.csv(
    text = lines, colClasses = "character", na.strings = "", check.names = FALSE, encoding = "UTF-8",
    comment.char = "", strip.white = FALSE
  )
  for (name in names(text)) text[[name]] <- typed(text[[name]], data[[name]])
  if (inherits(data, "tbl_df")) class(text) <- c("tbl_df", "tbl", "data.frame")
  text
}

#' Give text the type of a column. Text that is no such value, as a range, stays text.
typed <- function(text, like) {
  if (is.null(like)) return(text)
  if (is.factor(like)) {
    if (!all(text %in% c(levels(like), NA))) return(text)
    return(factor(text, levels = levels(like), ordered = is.ordered(like)))
  }
  if (inherits(like, "Date")) return(same(text, as.Date(text, optional = TRUE, format = "%Y-%m-%d")))
  if (inherits(like, "POSIXct")) {
    zone <- attr(like, "tzone")
    moment <- as.POSIXct(text, tz = "UTC", optional = TRUE, format = "%Y-%m-%d %H:%M:%S")
    attr(moment, "tzone") <- zone
    return(same(text, moment))
  }
  if (is.logical(like)) return(same(text, as.logical(text)))
  if (!is.numeric(unclass(like))) {
    attributes(text) <- attributes(like)
    return(text)
  }
  values <- suppressWarnings(as.numeric(text))
  if (any(is.na(values) & !is.na(text))) return(text)
  if (is.integer(like) && all(is.na(values) | values == round(values))) values <- as.integer(values)
  if (is.integer(values) == is.integer(like)) attributes(values) <- attributes(like)
  values
}

same <- function(text, values) if (any(is.na(values) & !is.na(text))) text else values
