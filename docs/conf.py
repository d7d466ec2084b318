"""Configuration of the documentation: ``make docs`` builds it, and every warning is an error."""

import sys
from pathlib import Path

HOME = Path(__file__).parents[1]
sys.path[:0] = [str(HOME / "docs" / "_ext"), str(HOME / "src")]

from figures import FigureScraper  # noqa: E402

import drgst  # noqa: E402

project = "drgst"
author = project_copyright = "The drgst developers"
version = release = drgst.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "pages",
]
exclude_patterns = ["_build", "_ext", "_made", "examples", "gallery/*.py", "gallery/*.ipynb", "reference/examples.txt"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.strikethrough"]

html_theme = "pydata_sphinx_theme"
html_title = "drgst"
html_static_path = ["_static"]
html_css_files = ["drgst.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 8,
    "show_prev_next": True,
    "navigation_with_keys": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}

copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

autodoc_typehints = "signature"
highlight_language = "none"  # commands and what they print
toc_object_entries = False
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib", FigureScraper()),
    "capture_repr": (),
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "download_all_examples": False,
    "plot_gallery": "True",
}
