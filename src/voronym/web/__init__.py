"""The local page: the same engine with forms and pictures, for people who prefer to look.

``serve``      `serve`: the server on 127.0.0.1, its address, and its end
``app``        the routes: ``tables`` and ``runs`` answer them, ``screens`` fills the templates
``forms``      from the fields of forms to settings
``guard``      who may ask: host, token, cookie, where a request comes from, and the headers of answers
``headers``    the headers of every answer, and requests of other sites; location's pages share it
``intake``     uploads: limits on bytes, on what they unpack to, on columns; names are never paths
``desk``       what is on the desk: tables, their settings and runs; one run at a time, three wait
``process``    a worker process as the server sees it; ``worker`` is that process
``bench``      what a worker does with its table: read, count, sketch, run. All of it calls the house
``settings``   what was chosen: as arguments of `voronym.anonymize`, and as the command line to copy
``shown``      what is shown of a release; ``draw``: the picture of risk against loss

There is no logic of anonymization here: whatever the page makes, the command line makes from the same recipe.
"""
