"""Run folders: draws and chain states on disk, in a format that holds only data."""
