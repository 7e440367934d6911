"""Cross-validation of ridge regression by gradient descent, one fold a task of joblib.

python examples/pools/cross_validation.py
"""

import sys

from joblib import Parallel, delayed

import adjoint as ad


def error_of_fold(x: ad.Tensor, y: ad.Tensor, fold: int, folds: int, penalty: float) -> ad.Tensor:
    """The mean squared error on one fold of a model that was fitted to the others."""
    held_out = ad.arange(len(x)) % folds == fold
    w = ad.zeros(x.shape[1], requires_grad=True)
    optimizer = ad.optim.LBFGS([w], max_iter=50, line_search_fn="strong_wolfe")

    def loss() -> ad.Tensor:
        optimizer.zero_grad()
        value = ((x[~held_out] @ w - y[~held_out]) ** 2).mean() + penalty * (w**2).sum()
        value.backward()
        return value

    optimizer.step(loss)
    return ((x[held_out] @ w.detach() - y[held_out]) ** 2).mean()


def main(jobs: int = 2, folds: int = 5) -> float:
    """Prints the error of each penalty, and returns the best penalty."""
    ad.manual_seed(0)
    x = ad.randn(60, 40)
    y = x[:, :5].sum(1) + ad.randn(60)
    penalties = [0.0, 0.01, 0.1, 1.0, 10.0]
    tasks = [(fold, penalty) for penalty in penalties for fold in range(folds)]
    errors = ad.stack(Parallel(n_jobs=jobs)(delayed(error_of_fold)(x, y, fold, folds, penalty) for fold, penalty in tasks))
    means = errors.view(len(penalties), folds).mean(1)
    for penalty, mean in zip(penalties, means.tolist()):
        print(f"penalty {penalty:5.2f}: mean squared error {mean:.3f}")
    return penalties[int(means.argmin())]


if __name__ == "__main__":
    print("best:", main(*map(int, sys.argv[1:])))
