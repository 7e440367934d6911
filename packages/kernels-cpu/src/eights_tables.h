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

// erf(a) = m (c0 + (c0_low + t (c[0] + t (c[1] + ...)))) in 16 pieces, t from their middle, k times 25 / 64: own fits to 2^-56 of erf(a), m = 1,
// of erf(a) / a in the first three, m = a.
struct Pieces {
  double c0[16], c0_low[16], c[12][16];
};
alignas(64) constexpr Pieces erf_pieces = {
  {
    0x1.20dd750429b6dp+0, 0x1.12d24bc6062e5p+0, 0x1.deec15b73431ep-1, 0x1.ce1962c0e0d8bp-1, 0x1.f21c9f12f0677p-1, 0x1.fd0f5317f582fp-1,
    0x1.ff87b1913e853p-1, 0x1.fff18ebe2b0e1p-1, 0x1.fffeb3ebb267bp-1, 0x1.ffffe9bf4098cp-1, 0x1.fffffee3cc32cp-1, 0x1.fffffff57632dp-1,
    0x1.ffffffffb5be5p-1, 0x1.fffffffffe7cp-1, 0x1.fffffffffffa2p-1, 0x1.fffffffffffffp-1},
  {
    0x1.16fad024eb1bcp-56, 0x1.ec2c85ad514fbp-54, -0x1.b6573a62e00c1p-56, 0x1.15bb46adb7826p-55, -0x1.9a938918de5b2p-58, -0x1.c79af367997b6p-55,
    -0x1.3b9061f2318b9p-56, -0x1.99238424a2af8p-57, 0x1.e44fb2353e84cp-57, -0x1.4c916f2844db9p-55, 0x1.e42acff45921dp-56, 0x1.9338b53563cf7p-59,
    -0x1.729d8d243d978p-56, -0x1.b53373407b2b4p-57, 0x1.d0750912dd2dp-57, -0x1.a4702e9a72b84p-58},
  {
    {
     0, -0x1.12cbe5a819941p-2, -0x1.a6b699a8ef00dp-2, 0x1.24a55399ea23p-2, 0x1.92470a61b6961p-4, 0x1.978ae8b55ce4fp-6, 0x1.30499b5039566p-8,
     0x1.4ee1429bf7bbcp-11, 0x1.0f9e1b4dd37fdp-14, 0x1.44ba864671541p-18, 0x1.1e1e857adc3bep-22, 0x1.7397c5a65871ep-27, 0x1.63ac6b4e58b3cp-32,
     0x1.f5cc7715010a3p-38, 0x1.04e15ec73adedp-43, 0x1.8fd4e00134ac9p-50},
    {
     -0x1.812746b0379ddp-2, -0x1.2076eb8b2301cp-2, -0x1.5a1b4cb822334p-4, -0x1.56f1bdf85e61p-2, -0x1.3a47801c56a39p-3, -0x1.8dfda7411cb65p-5,
     -0x1.649642020337ep-7, -0x1.c9d7f9113cb89p-10, -0x1.a8670aa99a41cp-13, -0x1.1d67f003e9502p-16, -0x1.1769ce59fc29cp-20,
     -0x1.8f2c0951c1191p-25, -0x1.a0ce0dc019908p-30, -0x1.3e86499790d28p-35, -0x1.64ac1f96b6f0dp-41, -0x1.24d86a15bdabcp-47},
    {
     0, 0x1.2ca8a2a412ae2p-3, 0x1.53b4c8907e7a9p-3, 0x1.54c0d66d7ac88p-3, 0x1.0453f90d3c373p-3, 0x1.c24b2053de961p-5, 0x1.fa73d7eb1da6ep-7,
     0x1.856614216d127p-9, 0x1.a3737e2a2252bp-12, 0x1.40ee07ac0728ep-15, 0x1.5fe5d4756aa18p-19, 0x1.161fb53cff75cp-23, 0x1.3e380deef54dbp-28,
     0x1.085b86a7124dcp-33, 0x1.3fa8311c1b153p-39, 0x1.19d12210ff2a8p-45},
    {
     0x1.ce2f21a03ebb4p-4, 0x1.e567df70816b3p-5, -0x1.f4c2fe8c170e6p-6, 0x1.cf82bac199767p-7, -0x1.8a7c6a239cf4ap-5, -0x1.33137b26df956p-5,
     -0x1.daa3005c26c52p-7, -0x1.c812e602cf9b1p-9, -0x1.24544f02dc1fdp-11, -0x1.02488b68a3c7dp-14, -0x1.405da04816024p-18, -0x1.1a2239f4eb929p-22,
     -0x1.638bc509b6e1ap-27, -0x1.4256996afe30dp-32, -0x1.a62b716c1be19p-38, -0x1.909da8fae133cp-44},
    {
     0, -0x1.8400723d12819p-5, -0x1.1ea2cb9b841p-5, -0x1.cf38b9a468f65p-5, -0x1.075c0885553edp-7, 0x1.a342ba1daada9p-7, 0x1.250942c14505fp-7,
     0x1.7e02d8b2a9bb3p-9, 0x1.2e7e764279915p-11, 0x1.3b124fcf719d9p-14, 0x1.bfc96a8e76466p-18, 0x1.bb32dd397948ep-22, 0x1.357535ffdb53bp-26,
     0x1.338c3b544772fp-31, 0x1.b5c5e7c4ead33p-37, 0x1.c0556fc9445a5p-43},
    {
     -0x1.b82ce308ade08p-6, -0x1.11bf2f7ed4761p-7, 0x1.ffd1ffc39940dp-7, 0x1.2c17270bd8b2ep-6, 0x1.16f9c9cd1fdf3p-6, 0x1.b4bbc4dd93538p-10,
     -0x1.997578d7581b8p-9, -0x1.c5229390fd007p-10, -0x1.da496e48d933ap-12, -0x1.2c59504c1179ap-14, -0x1.f19ff61b4a6f1p-18,
     -0x1.17c6eeadd0017p-21, -0x1.b41f2fb8e435fp-26, -0x1.dd9c424e3ef49p-31, -0x1.72de12abd2d9p-36, -0x1.9b1e5dc49e56dp-42},
    {
     0, 0x1.68d599248f64cp-7, 0x1.10d7a1922336dp-8, 0x1.e06ba370401dap-8, -0x1.74c2f8fdf0adbp-8, -0x1.04938929d259bp-8, -0x1.390339ed0ae77p-15,
     0x1.583421133aa35p-11, 0x1.176cf2ad690c9p-12, 0x1.c558562ee65adp-15, 0x1.c0c4dcf41982ap-18, 0x1.22b7367e83d79p-21, 0x1.fe6b000bfb142p-26,
     0x1.35e0b5bcbb567p-30, 0x1.07b3113ae7cd6p-35, 0x1.3d7ae1a377ecep-41},
    {
     0x1.565bc185558f2p-8, 0x1.3825fed086269p-11, -0x1.f1a7df32dbb2p-9, -0x1.8df7ebf45debcp-8, -0x1.760c850154279p-10, 0x1.9f5a2c26856c2p-10,
     0x1.6a6d8e9c05a79p-11, -0x1.48c1e51b045c1p-14, -0x1.d2ac77ba56b45p-14, -0x1.0dba1ae03d488p-15, -0x1.4b9de8305f24ep-18,
     -0x1.f8adac0ab6b8bp-22, -0x1.f8b0172841402p-26, -0x1.5638fbebcecbp-30, -0x1.40c8b729a5b49p-35, -0x1.a4ff12165b351p-41},
    {
     0, -0x1.06d9b2517ef11p-9, -0x1.b0f637a53fa27p-14, 0x1.46744f8eec595p-13, 0x1.a3cb3e3814559p-10, 0x1.66cafdfea2978p-14,
     -0x1.71ef4109de47ap-12, -0x1.4fbbdb0fe6719p-14, 0x1.ab07ec8240be2p-16, 0x1.ea59f3d42a9fp-17, 0x1.9133542e770f9p-19, 0x1.70bee795dc73bp-22,
     0x1.aa2d3a640382ep-26, 0x1.4581261b091a3p-30, 0x1.51d10ce465ccep-35, 0x1.e4c5a1b526318p-41},
    {
     -0x1.c01fd47d1103ap-11, 0x1.c958b42364112p-15, 0x1.4cecbbed1dc4ep-11, 0x1.116a20d50099ap-10, -0x1.02a7c65aa7091p-12, -0x1.4a61bbf0a715bp-12,
     0x1.64278f8370e98p-15, 0x1.e4152d0efe75fp-15, 0x1.040ba35f36665p-18, -0x1.31ea22b784a8ep-18, -0x1.87188faa9298p-20, -0x1.c67370231845dp-23,
     -0x1.35f08fafcc823p-26, -0x1.0de67754e7d36p-30, -0x1.38b023ee37d5cp-35, -0x1.edb5faa74dd0cp-41},
    {
     0, 0x1.359c6300bbce2p-12, -0x1.253d22aac6006p-14, -0x1.f98046835a6ffp-13, -0x1.90ecc3d8ed563p-13, 0x1.9104ec63e7ae6p-14,
     0x1.4ec22fa91ec3ap-15, -0x1.ff20cff6e911dp-17, -0x1.ae8c579f51c1p-18, 0x1.059ee3cbab942p-21, 0x1.25174acc1d26bp-21, 0x1.dcc449d82550cp-24,
     0x1.911136a12f523p-27, 0x1.99e5c3452471cp-31, 0x1.0f5a0cf4cf225p-35, 0x1.e19729068e936p-41},
    {
     0x1.f159cbe49a5c9p-14, -0x1.b7811aa822135p-16, -0x1.4b1a0073fd114p-14, -0x1.ca0a7c63ab7e9p-14, 0x1.66c60d6b1208ep-14, 0x1.119cff60ed558p-16,
     -0x1.6a9b7b6915523p-16, -0x1.da1f3d30adeacp-20, 0x1.6acf79c611a5dp-19, 0x1.aab6d7b1ea3aap-22, -0x1.1beeb93ed0d1dp-23, -0x1.8fc5a03d5b2e6p-25,
     -0x1.ae7ab328a68b1p-28, -0x1.040aa3bc8ce92p-31, -0x1.88268652c93d4p-36, -0x1.83c31a6d80d8ap-41}}};

}  // namespace adjoint::cpu::eights
