"""Questions that got no answer, as the pages that are missing."""
