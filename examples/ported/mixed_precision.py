"""Mixed precision: autocast in bfloat16, GradScaler, accumulated gradients and clipping of what is scaled back."""

import argparse

import torch
from torch import nn


def make_model(in_size, out_size, num_layers):
    layers = []
    for _ in range(num_layers - 1):
        layers.append(nn.Linear(in_size, in_size))
        layers.append(nn.ReLU())
    layers.append(nn.Linear(in_size, out_size))
    return nn.Sequential(*tuple(layers))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--no-amp", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    use_amp, iters_to_accumulate = not args.no_amp, 2
    net = make_model(32, 8, 3).to(device)
    inputs = torch.randn(128, 32, device=device)
    targets = torch.tanh(inputs[:, :8] * inputs[:, 8:16])
    loss_fn = nn.MSELoss().to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9, nesterov=True)
    scaler = torch.amp.GradScaler(device, enabled=use_amp, init_scale=1024.0, growth_interval=20)
    losses = []
    for _ in range(args.steps):
        total = 0.0
        for input, target in zip(inputs.chunk(iters_to_accumulate), targets.chunk(iters_to_accumulate)):
            with torch.autocast(device_type=device, dtype=torch.bfloat16, enabled=use_amp):
                output = net(input)
                assert output.dtype is (torch.bfloat16 if use_amp else torch.float32)
                loss = loss_fn(output.float(), target) / iters_to_accumulate
            scaler.scale(loss).backward()
            total += loss.item()
        scaler.unscale_(opt)
        torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)
        scaler.step(opt)
        scaler.update()
        opt.zero_grad(set_to_none=True)
        losses.append(total)
    checkpoint = {"model": net.state_dict(), "optimizer": opt.state_dict(), "scaler": scaler.state_dict()}
    print(f"scale {checkpoint['scaler'].get('scale', 1.0):.0f}")
    print(f"loss: first {losses[0]:.6f}, last {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
