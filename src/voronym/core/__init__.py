"""What every room stands on: registries, options, contexts, checks of arguments, atomic files."""
