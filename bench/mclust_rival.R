# The rival of crates/goc/benches/mclust.rs: R's mclust on the same points (install.packages("mclust")).
suppressMessages(library(mclust))
state <- 1
uniform <- function() { state <<- (16807 * state) %% 2147483647; state / 2147483647 }
blobs <- function(n) {
  state <<- 1
  centres <- sapply(1:120, function(i) 10 * uniform())
  x <- matrix(0, n, 3)
  for (i in 1:n) for (j in 1:3) {
    noise <- uniform(); noise <- noise + uniform(); noise <- noise + uniform() - 1.5
    x[i, j] <- centres[3 * ((i - 1) %% 40) + j] + noise
  }
  x
}
mclust.options(subset = 1e6) # the whole tree, as ours; by default it is grown on 2000 points
for (n in c(275, 1000, 3000)) {
  x <- blobs(n)
  for (model in c("EII", "VII", "VVV")) {
    seconds <- system.time(fit <- Mclust(x, G = 1:50, modelNames = model, verbose = FALSE))
    cat(sprintf("n=%d K=50 %s seconds=%.4f user=%.4f G=%d bic=%.6f\n", n, model,
                seconds["elapsed"], seconds["user.self"], fit$G, fit$bic))
  }
}
