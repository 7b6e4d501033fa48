"""Muon: momentum whose matrix is replaced by the nearest orthogonal one (five Newton-Schulz steps), so that every
direction of a weight matrix moves equally far. For the matrices inside the layers; the rest is left to AdamW."""
import torch


def orthogonalise(matrices):
    """Of a stack of matrices of one shape, in bfloat16: singular values near 1."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrices.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.mT if tall else x).to(matrices.dtype)


class Muon:
    def __init__(self, parameters, momentum=0.95):
        self.momentum = momentum
        by_shape = {}
        for p in parameters:
            by_shape.setdefault(tuple(p.shape), []).append(p)
        self.groups = list(by_shape.values())
        self.buffers = [torch.zeros(len(g), *g[0].shape, device=g[0].device) for g in self.groups]

    @torch.no_grad()
    def step(self, lr, decay):
        for group, buffer in zip(self.groups, self.buffers):
            gradient = torch.stack([p.grad for p in group])
            buffer.lerp_(gradient, 1 - self.momentum)
            update = orthogonalise(gradient.lerp_(buffer, self.momentum))
            scale = max(1, group[0].shape[0] / group[0].shape[1]) ** 0.5
            for p, u in zip(group, update):
                p.mul_(1 - lr * decay).add_(u, alpha=-lr * scale)

    def state(self):
        return self.buffers

    def load_state(self, buffers):
        for own, saved in zip(self.buffers, buffers):
            own.copy_(saved)
