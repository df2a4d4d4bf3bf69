"""Coming from ARX: a project file becomes a recipe and hierarchies.

``archive``    a ``.deid`` is a zip: its texts and its XML, read without trust
``project``    what a project says: columns, hierarchies, criteria
``translate``  the same as a recipe, and what of it cannot be said here
"""

from voronym.arx.project import Project, read_project
from voronym.arx.translate import Imported, import_project

__all__ = ["Imported", "Project", "import_project", "read_project"]
