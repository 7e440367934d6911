"""Deep Q-learning on a corridor: walk right to the end, past a cheap reward on the left."""

import argparse
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.optim as optim

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))
LENGTH = 6


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


def step(place, action):
    """The next place, or None at either end, and the reward."""
    place += 1 if action == 1 else -1
    return (None, 1.0) if place == LENGTH - 1 else (None, 0.1) if place < 0 else (place, 0.0)


def observe(place):
    return nn.functional.one_hot(torch.tensor([place]), LENGTH).float()


def optimize_model(policy_net, target_net, memory, optimizer, gamma=0.9):
    batch = Transition(*zip(*memory.sample(32)))
    non_final_mask = torch.tensor([s is not None for s in batch.next_state], dtype=torch.bool)
    non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
    values = policy_net(torch.cat(batch.state)).gather(1, torch.cat(batch.action))
    next_values = torch.zeros(32)
    with torch.no_grad():
        next_values[non_final_mask] = target_net(non_final_next_states).max(1).values
    expected = torch.cat(batch.reward) + gamma * next_values
    loss = nn.SmoothL1Loss()(values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    policy_net, target_net = (nn.Sequential(nn.Linear(LENGTH, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2))
    optimizer = optim.AdamW(policy_net.parameters(), lr=3e-3, amsgrad=True)
    target_net.load_state_dict(policy_net.state_dict())
    memory, losses, place = ReplayMemory(500), [], 2
    for _ in range(args.steps + 50):
        if random.random() < 0.5:
            action = torch.tensor([[random.randrange(2)]])
        else:
            with torch.no_grad():
                action = policy_net(observe(place)).max(1).indices.view(1, 1)
        next_place, reward = step(place, action.item())
        next_state = None if next_place is None else observe(next_place)
        memory.push(observe(place), action, next_state, torch.tensor([reward]))
        place = 2 if next_place is None else next_place
        if len(memory) > 50:
            losses.append(optimize_model(policy_net, target_net, memory, optimizer))
            target_net_state_dict, policy_net_state_dict = target_net.state_dict(), policy_net.state_dict()
            for key in policy_net_state_dict:
                target_net_state_dict[key] = policy_net_state_dict[key] * 0.05 + target_net_state_dict[key] * 0.95
            target_net.load_state_dict(target_net_state_dict)
    with torch.no_grad():
        best = policy_net(torch.eye(LENGTH)).argmax(1)[:-1]
    print("best actions:", ["left" if a == 0 else "right" for a in best])
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
