// Captures and graphs: the part of the stand-in driver that records work instead of running it. Included there, behind its state.
#pragma once

Result cuStreamBeginCapture_v2(Stream* s, int mode) {
  IN_CONTEXT("cuStreamBeginCapture_v2");
  if (!s || s->graph) return unsupported;
  s->graph = new Graph{{}, {s}, s, mode, next_capture++, false, std::this_thread::get_id()};
  captures.insert(s->graph);
  entries << "capture " << stream_id(s) << '\n';
  return ok;
}
Result cuStreamEndCapture(Stream* s, Graph** graph) {
  IN_CONTEXT("cuStreamEndCapture");
  *graph = nullptr;
  Graph* g = s ? s->graph : nullptr;
  if (!g || g->origin != s) return unsupported;
  if (g->mode != 2 && g->thread != std::this_thread::get_id()) return wrong_thread;
  Result r = g->spoilt ? invalidated : ok;
  for (Stream* member : g->members) {
    if (!r && member != s && s->seen[member] < member->seen[member]) r = unjoined;
    member->graph = nullptr;
  }
  for (Stream* member : g->members) member->seen.clear();
  captures.erase(g);
  if (r) delete g;
  else *graph = g;
  return r;
}
Result cuStreamGetCaptureInfo_v2(Stream* s, int* status, uint64_t* id, Graph**, const void**, size_t*) {
  CALL("cuStreamGetCaptureInfo_v2");
  Graph* g = s ? s->graph : nullptr;
  *status = !g ? 0 : g->spoilt ? 2 : 1;   // 2: it cannot be ended but in vain
  if (g && id) *id = g->id;
  return ok;
}
Result cuThreadExchangeStreamCaptureMode(int* mode) { std::swap(*mode, capture_mode); return ok; }
Result cuGraphGetNodes(Graph* g, void**, size_t* n) { CALL("cuGraphGetNodes"); *n = g->work.size(); return ok; }
Result cuGraphInstantiateWithFlags(Graph** executable, Graph* g, unsigned long long) {
  IN_CONTEXT("cuGraphInstantiateWithFlags");
  UNSAFE;
  *executable = new Graph(*g);
  return ok;
}
Result cuGraphLaunch(Graph* executable, Stream* s) {
  IN_CONTEXT("cuGraphLaunch");
  entries << "replay " << executable->work.size() << " stream " << stream_id(s) << '\n';
  for (const Work& work : executable->work)
    if (const Result r = work(s)) return r;
  return ok;
}
Result cuGraphDebugDotPrint(Graph* g, const char* path, unsigned) {
  CALL("cuGraphDebugDotPrint");
  FILE* file = std::fopen(path, "w");
  if (!file) return invalid_value;
  std::fprintf(file, "digraph dot {\n");
  for (size_t i = 0; i < g->work.size(); i++) std::fprintf(file, "  n%zu;\n", i);
  std::fprintf(file, "}\n");
  std::fclose(file);
  return ok;
}
Result cuGraphDestroy(Graph* g) { CALL("cuGraphDestroy"); delete g; return ok; }
Result cuGraphExecDestroy(Graph* g) { CALL("cuGraphExecDestroy"); delete g; return ok; }
