"""Run by the Python that has bnpy: see elsewhere.run for what comes in and goes out."""

import os
import sys
import tempfile
import time

os.environ["BNPYOUTDIR"] = tempfile.mkdtemp()

import bnpy
import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_t

folder, effort, seed, r, nu, alpha = sys.argv[1:]
del sys.argv[1:]  # bnpy would take them for its own
X = np.loadtxt(os.path.join(folder, "X.csv"), delimiter=",", ndmin=2)
held_out = np.loadtxt(os.path.join(folder, "held_out.csv"), delimiter=",", ndmin=2)
d = X.shape[1]
centre = X.mean(axis=0)  # bnpy's prior mean is zero
data = bnpy.data.XData(X - centre)

began = time.process_time()
model, info = bnpy.run(
    data, "DPMixtureModel", "Gauss", "memoVB",
    nLap=int(effort), nTask=1, nBatch=1, K=30, initname="randexamples",
    gamma0=float(alpha), nu=int(float(nu)), kappa=float(r), ECovMat="eye",
    sF=1.0 / (float(nu) - d - 1), moves="birth,merge,shuffle", m_startLap=2,
    algseed=int(seed), doWriteStdOut=False,
)  # fmt: skip
local = model.calc_local_params(data)
labels = local["resp"].argmax(axis=1)
seconds = time.process_time() - began

posterior = model.obsModel.Post
weights = model.allocModel.get_active_comp_probs()
terms = []
for k in range(len(weights)):
    degrees = posterior.nu[k] - d + 1
    shape = posterior.B[k] * (posterior.kappa[k] + 1) / (posterior.kappa[k] * degrees)
    t = multivariate_t(posterior.m[k], shape, degrees)
    terms.append(np.log(weights[k]) + t.logpdf(held_out - centre))

np.savetxt(os.path.join(folder, "labels.csv"), labels, fmt="%d")
np.savetxt(os.path.join(folder, "density.csv"), logsumexp(terms, axis=0))
with open(os.path.join(folder, "seconds.csv"), "w") as file:
    file.write(str(seconds))
