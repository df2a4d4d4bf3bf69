# The command line program: where it is, how it is run, and what it says.

#' Return the words that start voronym: the option, the environment, or the name.
command <- function() {
  getOption("voronym.command", Sys.getenv("VORONYM", unset = "voronym"))
}

vr_available <- function() {
  words <- command()
  nzchar(Sys.which(words[1])) || file.exists(words[1])
}

#' Run voronym with some words and return what it printed; its messages become conditions.
run <- function(words, call = sys.call(-1)) {
  if (!vr_available()) {
    signal("error", paste0(
      "there is no program '", command()[1], "': install it with 'pip install voronym', or set ",
      "options(voronym.command = ) to its path"
    ), call)
  }
  said <- tempfile("voronym-said-")
  printed <- tempfile("voronym-printed-")
  on.exit(unlink(c(said, printed)))
  start <- command()
  kept <- Sys.getenv(c("NO_COLOR", "PYTHONUTF8", "PYTHONIOENCODING"), unset = NA, names = TRUE)
  Sys.setenv(NO_COLOR = "1", PYTHONUTF8 = "1", PYTHONIOENCODING = "utf-8")
  on.exit(restore(kept), add = TRUE)
  status <- suppressWarnings(
    system2(start[1], shQuote(enc2utf8(c(start[-1], words))), stdout = printed, stderr = said)
  )
  hear(readLines(said, encoding = "UTF-8", warn = FALSE), status, call)
  readLines(printed, encoding = "UTF-8", warn = FALSE)
}

restore <- function(kept) {
  gone <- names(kept)[is.na(kept)]
  Sys.unsetenv(gone)
  rest <- kept[!is.na(kept)]
  if (length(rest)) do.call(Sys.setenv, as.list(rest))
}

#' Signal what voronym said: an error stops, a warning warns, anything else is a message.
hear <- function(lines, status, call) {
  starts <- grepl("^(error|warning|note): ", lines)
  whole <- vapply(split(lines, cumsum(starts)), paste, "", collapse = "\n")
  errors <- grepl("^error: ", whole)
  for (text in whole[!errors]) {
    if (startsWith(text, "warning: ")) {
      signal("warning", sub("^warning: ", "", text), call)
    } else if (nzchar(trimws(text))) {
      signal("message", paste0(sub("^note: ", "", text), "\n"), call)
    }
  }
  if (status == 0) return(invisible())
  text <- if (any(errors)) sub("^error: ", "", whole[errors]) else paste("voronym ended with code", status)
  signal("error", paste(text, collapse = "\n"), call, unmet = status == 3)
}

#' Signal a condition of class voronym_error, voronym_warning or voronym_message.
signal <- function(kind, text, call, unmet = FALSE) {
  classes <- c(if (unmet) "voronym_unmet", paste0("voronym_", kind), kind, "condition")
  condition <- structure(class = classes, list(message = text, call = call))
  switch(kind, error = stop(condition), warning = warning(condition), message = message(condition))
}

#' Turn named arguments into flags: TRUE is a bare flag, several values repeat it.
flags <- function(given) {
  if (!length(given)) return(character())
  if (is.null(names(given)) || !all(nzchar(names(given)))) {
    stop("options of voronym need names, such as method = \"mdav\"", call. = FALSE)
  }
  unlist(Map(flag, names(given), given), use.names = FALSE)
}

flag <- function(name, value) {
  word <- if (nchar(name) == 1) paste0("-", name) else paste0("--", gsub("_", "-", name, fixed = TRUE))
  if (is.null(value) || isFALSE(value)) return(character())
  if (isTRUE(value)) return(word)
  if (name %in% c("report", "public_report", "save_recipe", "ledger", "recipe")) value <- path.expand(value)
  if (is.numeric(value)) value <- number(value)
  if (!is.null(names(value))) value <- paste0(names(value), "=", value)
  c(rbind(word, as.character(value)))
}
