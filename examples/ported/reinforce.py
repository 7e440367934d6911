"""REINFORCE: a policy learns to follow a sign; the loss that is printed is the share of the reward that it missed."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical, kl_divergence


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(3, 32)
        self.dropout = nn.Dropout(p=0.1)
        self.affine2 = nn.Linear(32, 3)

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.affine2(x), dim=1)


def run_episode(policy, length=10):
    """What an episode of signs gives: logarithms of probabilities, rewards, and the entropy of the policy."""
    log_probs, rewards, entropy = [], [], 0.0
    for _ in range(length):
        sign = torch.randint(0, 3, (1,))
        m = Categorical(policy(F.one_hot(sign, 3).float()))
        action = m.sample()
        log_probs.append(m.log_prob(action))
        rewards.append(1.0 if action.item() == (sign.item() + 1) % 3 else 0.0)
        entropy = entropy + m.entropy()
    return log_probs, rewards, entropy


def discounted(rewards, gamma=0.5):
    returns, total = [], 0.0
    for r in rewards[::-1]:
        total = r + gamma * total
        returns.insert(0, total)
    returns = torch.tensor(returns)
    return (returns - returns.mean()) / (returns.std() + 1e-6)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=150)
    args = parser.parse_args()
    torch.manual_seed(543)
    policy = Policy()
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)
    missed, smooth = [], None
    for _ in range(args.steps):
        log_probs, rewards, entropy = run_episode(policy)
        policy_loss = torch.cat([-log_prob * r for log_prob, r in zip(log_probs, discounted(rewards))]).sum()
        optimizer.zero_grad()
        (policy_loss - 0.01 * entropy.sum()).backward()
        optimizer.step()
        now = 1 - sum(rewards) / len(rewards)
        smooth = now if smooth is None else 0.9 * smooth + 0.1 * now
        missed.append(smooth)
    policy.eval()
    with torch.no_grad():
        far = kl_divergence(Categorical(policy(torch.eye(3))), Categorical(logits=torch.zeros(3, 3)))
    print(f"distance of the policy from chance: {far.mean().item():.3f}")
    print(f"loss: first {missed[0]:.6f}, last {missed[-1]:.6f}")


if __name__ == "__main__":
    main()
