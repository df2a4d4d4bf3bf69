"""A plug-in of voronym. Nothing is imported here: the module of verbs has to be quick."""
