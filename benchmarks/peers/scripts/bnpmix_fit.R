# Run by Rscript: see elsewhere.run for what comes in and goes out.
library(BNPmix)
given <- commandArgs(trailingOnly = TRUE)
folder <- given[1]
numbers <- as.numeric(given[-1]) # effort, seed, r, nu, alpha
X <- as.matrix(read.csv(file.path(folder, "X.csv"), header = FALSE))
held_out <- read.csv(file.path(folder, "held_out.csv"), header = FALSE)
set.seed(numbers[2])

began <- proc.time()
fit <- PYdensity(
  X,
  mcmc = list(niter = numbers[1], nburn = numbers[1] %/% 2, method = "MAR", hyper = FALSE,
              print_message = FALSE),
  prior = list(strength = numbers[5], discount = 0, m0 = colMeans(X), k0 = numbers[3],
               n0 = numbers[4], Sigma0 = diag(ncol(X))),
  output = list(grid = held_out, out_type = "FULL")
)
labels <- partition(fit, dist = "VI")$partitions[1, ]
spent <- proc.time() - began

write(labels, file.path(folder, "labels.csv"), ncolumns = 1)
write(log(colMeans(fit$density)), file.path(folder, "density.csv"), ncolumns = 1)
write(spent[["user.self"]] + spent[["sys.self"]], file.path(folder, "seconds.csv"))
