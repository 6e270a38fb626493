"""Run folders: a run on disk, in a format that holds only data.

::

    mixwood.json            what the run is: format and version, model, settings, plan
    arrays.zarr/            a Zarr v3 store, which xarray opens
      draws/                labels (chain, draw, item), log_joint, log_u, ... (chain, draw)
      data/                 X, unless it was left out
      arrays/               large arrays among settings and parameters, if there are any
    chains/0, 1, .../state  the checkpoint of each chain, for a run that can be resumed
    estimates               point estimates found so far, if there are any
    lock, chains/*/lock     held by the process that writes

Draws are appended in chunks during the run: a file of labels holds some draws of one
chain, so that processes never share a file. A checkpoint is the full state of a chain, its
random stream included, and the number of draws that it has made. That number is the truth:
draws beyond it are dropped and made again, the same number for number. What is not drawn
yet reads as -1 and NaN.

Every file is written under another name, flushed to the disk and renamed, and the
checkpoint last. So a process may end at any moment, and the power too: what is lost is what
was drawn since the last checkpoint, a few seconds.

The folder as a whole is made in the same way. It is written under a hidden name next to its place,
`.NAME.<32 hex digits>.unfinished`, and then

1. the user's own files in the old folder, if there are any, are linked into the new one;
2. the two folders exchange their names, which is one step for the file system (Linux's
   renameat2), or the new one is renamed if there is no old one;
3. what now has the hidden name, the old run, is removed.

So a whole run is visible under its name at every moment, with the user's files. Where names
cannot be exchanged, the old folder is renamed to `.NAME.<...>.replaced` and the new one to `NAME`;
if the process ends between the two, whoever opens the run next puts the old one back. Hidden
folders that a killed process has left are removed by the next one that writes there: a living
process holds a lock on the folder itself.

There is no pickle anywhere, so a folder from elsewhere cannot run code. Whatever is not as
we write it, links included, is refused with an error that names the file. Only `estimates`, which
can be found again, is passed over with a warning that names it. Any process that finds an estimate
may write that file, also while another one draws: it says which draws it belongs to.
"""
