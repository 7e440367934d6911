// The numbers of eights.cpp, own fits: of logarithms, inverses near the middle of 16 pieces of [3/4, 3/2) whose logarithms are within 2^-60
// of multiples of 2^-42; powers of two by sixteenths.
#pragma once

namespace adjoint::cpu::eights {

// Logarithms in a base: of the inverses; of 2 in two parts, multiples of the first exact; of e in two; q[i] of (log(1 + r) - r) / r^2.
struct Base {
  double inverse[16], logarithm[16];
  double two, two_low, unit, unit_low, q[9];
};
alignas(64) constexpr Base natural = {{
    1, 0x1.d404e7bp-1, 0x1.bac5c0b8p-1, 0x1.a42a94b8p-1, 0x1.8fb31d48p-1, 0x1.7ce6467p-1, 0x1.6bfdf6ap-1, 0x1.5c883798p-1, 0x1.4e678238p+0,
    0x1.414a22dp+0, 0x1.3511d128p+0, 0x1.29ed9dap+0, 0x1.1f78333p+0, 0x1.15bafb0cp+0, 0x1.0c9e7dbp+0, 1},
  {
    0, 0x1.6fe242f564p-4, 0x1.298294afcap-3, 0x1.94d6165a1p-3, 0x1.fb1b942a7p-3, 0x1.2ee351eb46p-2, 0x1.5d6198b35cp-2, 0x1.89d3163bf6p-2,
    -0x1.1195e684e9p-2, -0x1.d13c1c4c02p-3, -0x1.81d21d4042p-3, -0x1.36a165a058p-3, -0x1.dae34e1654p-4, -0x1.4db70a924p-4, -0x1.8a2c97a428p-5, 0},
  0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45, 1, 0,
  {
    -0x1.0000000000002p-1, 0x1.5555555555f56p-2, -0x1.fffffffff3cap-3, 0x1.99999980cb427p-3, -0x1.555554a72e4f9p-3, 0x1.2492d6cef16d6p-3,
    -0x1.0009cd83f4a7ap-3, 0x1.c57c678f326e8p-4, -0x1.663296de5c75ep-4}};
alignas(64) constexpr Base binary = {{
    1, 0x1.d425f718p-1, 0x1.baeaf7bp-1, 0x1.a431852p-1, 0x1.8fb0262p-1, 0x1.7ce7f8dp-1, 0x1.6c26866p-1, 0x1.5cac2388p-1, 0x1.4e53abb4p+0,
    0x1.41489984p+0, 0x1.352f6e84p+0, 0x1.29d9c6f8p+0, 0x1.1f68bf78p+0, 0x1.15baf4f8p+0, 0x1.0c8e69ecp+0, 1},
  {
    0, 0x1.088e92a8bap-3, 0x1.ac3f153df8p-3, 0x1.23eeae159cp-2, 0x1.6dd7fdf07bp-2, 0x1.b4f302f3edp-2, 0x1.f7685bad51p-2, 0x1.1bc97bb94dp-1,
    -0x1.8a5bae9ef5p-2, -0x1.4f918156a1p-2, -0x1.16dd1b068dp-2, -0x1.bf605af8bp-3, -0x1.55f0534a54p-3, -0x1.e1726f3768p-4, -0x1.1af4717ffp-4, 0},
  1, 0, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56,
  {
    -0x1.71547652b8301p-1, 0x1.ec709dc3a126bp-2, -0x1.71547652af60fp-2, 0x1.2776c4fd14f28p-2, -0x1.ec709cc8608b3p-3, 0x1.a6182f08fe725p-3,
    -0x1.71629ac9e3077p-3, 0x1.471ef7d8a144ap-3, -0x1.02628ccf89d93p-3}};
alignas(64) constexpr Base decimal = {{
    1, 0x1.d43ba8c8p-1, 0x1.babdeee8p-1, 0x1.a43098bp-1, 0x1.8f8c7a1p-1, 0x1.7d04b3ep-1, 0x1.6c2cfdcp-1, 0x1.5c8b0b9p-1, 0x1.4e6dbb04p+0,
    0x1.415062fcp+0, 0x1.352a57a8p+0, 0x1.29eb1cb4p+0, 0x1.1f7730b8p+0, 0x1.15a4c8b8p+0, 0x1.0c8bb0b8p+0, 1},
  {
    0, 0x1.3dea11787p-5, 0x1.028964da1p-4, 0x1.5f896e7bacp-4, 0x1.b923d7d2fp-4, 0x1.06cec1fa7cp-3, 0x1.2f0518f1e4p-3, 0x1.560b211f5ap-3,
    -0x1.db65641204p-4, -0x1.943ba5ea4p-4, -0x1.4fabc44dc8p-4, -0x1.0dc075844cp-4, -0x1.9c6eff95p-5, -0x1.20c0136408p-5, -0x1.546e0244fp-6, 0},
  0x1.34413509f7p-2, 0x1.3fde623e2566bp-43, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57,
  {
    -0x1.bcb7b1526e512p-3, 0x1.287a7636f4c0fp-3, -0x1.bcb7b15263b5bp-4, 0x1.63c6275f99379p-4, -0x1.287a759fafe3ap-4, 0x1.fc409c2e3449bp-5,
    -0x1.bcc8b8cbfe37cp-5, 0x1.89e494d3b5d95p-5, -0x1.372061f7e917cp-5}};

// 2^(j / 16), and what it lacks.
alignas(64) constexpr double power[16] = {
    1, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0,
    0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f09p+0, 0x1.ae89f995ad3adp+0,
    0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
alignas(64) constexpr double power_low[16] = {
    0, 0x1.8a62e4adc610bp-54, -0x1.19041b9d78a76p-55, 0x1.9b07eb6c70573p-54, 0x1.6f46ad23182e4p-55, 0x1.ada0911f09ebcp-55, 0x1.d4397afec42e2p-56,
    0x1.6324c054647adp-54, -0x1.bdd3413b26456p-54, -0x1.41577ee04992fp-55, 0x1.6e9f156864b27p-54, 0x1.c7c46b071f2bep-56, 0x1.7a1cd345dcc81p-54,
    0x1.11065895048ddp-55, 0x1.2ed02d75b3707p-55, -0x1.e9c23179c2893p-54};

}  // namespace adjoint::cpu::eights
