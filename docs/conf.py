"""The site: `./run site` builds it, every warning an error. The reference is written by tools/reference from the installed library.

Sphinx, not MkDocs with mkdocstrings: names of adjoint are made at import, by records, rooms and bindings, which a reader of sources
does not see; Sphinx has an index of names that other projects can link to, executes notebooks and galleries, and is maintained.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools" / "reference"))

import pages  # noqa: E402
from docutils import nodes  # noqa: E402
from sphinx.addnodes import pending_xref  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402

import adjoint  # noqa: E402

project, author, release = "adjoint", "the authors of adjoint", adjoint.__version__
copyright = "the authors of adjoint, BSD-3-Clause"
extensions = ["myst_nb", "sphinx_design", "sphinx_copybutton", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence", "dollarmath", "attrs_inline"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
default_role = "code"
maximum_signature_line_length = 90
add_module_names = False
toc_object_entries_show_parents = "hide"
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. |\$ ", True

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "show_memory": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "plot_gallery": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "adjoint"
html_static_path = ["static"]
html_css_files = ["adjoint.css"]
html_favicon = html_logo = "static/logo.svg"
html_theme_options = {
    "logo": {"text": "adjoint", "image_light": "static/logo.svg", "image_dark": "static/logo.svg"},
    "show_toc_level": 2,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"index": []}
html_show_sourcelink = False

pages.write(HERE / "reference" / "generated")

LINKED = {"Tensor", "dtype", "device", "Generator", "Size"}  # words of annotations that lead somewhere


def link_annotations(app: Sphinx, page: nodes.document) -> None:
    """Annotations lead to the types of `ad.` alone: Sphinx would search every name of the reference for each other word."""
    for word in list(page.findall(pending_xref)):
        if not word.hasattr("refspecific"):
            continue
        if word["reftarget"] in LINKED:
            word["reftarget"] = f"adjoint.{word['reftarget']}"
            del word["refspecific"]
        else:
            word.replace_self(word.children)


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", link_annotations)
