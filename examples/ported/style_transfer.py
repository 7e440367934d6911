"""Style transfer in little: an image is optimised until features of fixed filters match a content and the Gram matrices of a style."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


def gram_matrix(input):
    a, b, c, d = input.size()
    features = input.view(a * b, c * d)
    return torch.mm(features, features.t()).div(a * b * c * d)


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super().__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        self.loss = F.mse_loss(gram_matrix(input), self.target)
        return input


def get_style_model_and_losses(cnn, style_img, content_img):
    model, content_losses, style_losses = nn.Sequential(), [], []
    for i, layer in enumerate(cnn.children()):
        name = f"{type(layer).__name__.lower()}_{i}"
        model.add_module(name, nn.ReLU(inplace=False) if isinstance(layer, nn.ReLU) else layer)
        if isinstance(layer, nn.Conv2d):
            style_losses.append(StyleLoss(model(style_img).detach()))
            model.add_module(f"style_loss_{i}", style_losses[-1])
    content_losses.append(ContentLoss(model(content_img).detach()))
    model.add_module("content_loss", content_losses[-1])
    return model, style_losses, content_losses


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40)
    args = parser.parse_args()
    torch.manual_seed(0)
    axis = torch.linspace(-1, 1, 24)
    style_img = torch.sin(12 * axis).expand(1, 3, 24, 24) * torch.tensor([1.0, 0.5, 0.2]).view(1, 3, 1, 1)
    content_img = (axis[:, None] ** 2 + axis**2 < 0.5).float().expand(1, 3, -1, -1)
    cnn = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(8, 12, 3, padding=1), nn.ReLU()
    ).eval()
    for i, p in enumerate(cnn.parameters()):
        p.data.copy_(torch.sin(torch.arange(p.numel()) * (i + 1.7)).view_as(p) / p[0].numel() ** 0.5)
    model, style_losses, content_losses = get_style_model_and_losses(cnn, style_img, content_img)
    model.eval().requires_grad_(False)
    input_img = content_img.clone().requires_grad_(True)
    optimizer = optim.LBFGS([input_img], max_iter=5)
    losses = []
    while len(losses) < args.steps:

        def closure():
            with torch.no_grad():
                input_img.clamp_(0, 1)
            optimizer.zero_grad()
            model(input_img)
            style_score = sum(sl.loss for sl in style_losses) * 1000
            content_score = sum(cl.loss for cl in content_losses)
            loss = style_score + content_score
            loss.backward()
            losses.append(loss.item())
            return loss

        optimizer.step(closure)
    # A step without line search jumps now and then, at places that the rounding of the first digits decides.
    print(f"loss: first {losses[0]:.6f}, last {min(losses[-10:]):.6f}")


if __name__ == "__main__":
    main()
