# Run by Rscript: see elsewhere.run for what comes in and goes out. No density of new rows.
library(dirichletprocess)
given <- commandArgs(trailingOnly = TRUE)
folder <- given[1]
numbers <- as.numeric(given[-1]) # effort, seed, r, nu, alpha
X <- as.matrix(read.csv(file.path(folder, "X.csv"), header = FALSE))
set.seed(numbers[2])

began <- proc.time()
process <- DirichletProcessMvnormal(
  X,
  g0Priors = list(mu0 = colMeans(X), Lambda = diag(ncol(X)), kappa0 = numbers[3], nu = numbers[4])
)
process <- Fit(process, numbers[1], progressBar = FALSE)
spent <- proc.time() - began

write(process$clusterLabels, file.path(folder, "labels.csv"), ncolumns = 1)
write(spent[["user.self"]] + spent[["sys.self"]], file.path(folder, "seconds.csv"))
