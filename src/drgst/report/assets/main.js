// Putting it together.
const gainPlace = (() => { // where points stand in the diagram of confidence against gain
  let made = null, tag = '';
  const low = Math.max(0, Math.floor(10 / C) / 10), most = gains.reduce((a, b) => b > a ? b : a, 1e-9), least = most / 1e6;
  const height = v => state.log ? Math.log(Math.max(v, least) / least) / Math.log(most / least) : v / most;
  const make = () => {
    const x = new Float32Array(N), y = new Float32Array(N);
    for (let i = 0; i < N; i++) { x[i] = (confidence(state.stage, i) - low) / (1 - low); y[i] = 1 - height(gain(state.stage, i)); }
    return {x, y};
  };
  const across = v => (v - low) / (1 - low);
  return {
    place() { const now_ = `${state.stage} ${state.log}`; if (now_ !== tag) { made = make(); tag = now_; } return made; },
    axes: () => ({
      x: ticks(low, 1, 5).map(v => [across(v), percent(v, 0)]), xWords: 'confidence', yWords: 'information gain',
      y: (state.log ? [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1].map(k => k * most) : ticks(0, most, 4)).map(v => [1 - height(v), figure(v, 2)]),
      lines: known(D.threshold) ? [[across(D.threshold), `threshold ${figure(D.threshold)}`]] : [],
    }),
  };
})();

const saved = { // a page in a frame may not keep anything
  get(key_) { try { return localStorage.getItem(key_); } catch { return null; } },
  set(key_, value) { try { localStorage.setItem(key_, value); } catch { return; } },
};
function applyTheme(name) {
  theme = name;
  document.documentElement.dataset.theme = name;
  $('theme').textContent = name === 'dark' ? '☀ Light' : '☾ Dark';
}
const dark = matchMedia('(prefers-color-scheme: dark)');
applyTheme(saved.get('drgst-theme') || (dark.matches ? 'dark' : 'light'));
dark.addEventListener('change', () => { if (!saved.get('drgst-theme')) { applyTheme(dark.matches ? 'dark' : 'light'); drawAll(); } });

$('colour').append(...Object.entries(WAYS).filter(([, parts]) => !parts[2] || parts[2]()).map(([key_, parts]) => el('option', {value: key_}, parts[0])));
$('choose').append(el('option', {value: ''}, 'nothing'), ...CHOICES().map(([key_, name]) => el('option', {value: key_}, name)));
$('stage').max = STAGES.length - 1;
$('stage').disabled = $('back').disabled = $('forth').disabled = STAGES.length < 2;
remakeWay();

const map = new Scatter($('map'), {zooms: true, place: () => ({x: mapX, y: mapY}), words: 'Map of the nodes. Arrow keys go from point to point, Enter opens a node.'});
const gainPlot = HAS_GAIN ? new Scatter($('gain'), {...gainPlace, words: 'Confidence against information gain. Arrow keys go from point to point.'}) : null;
if (!gainPlot) { $('gain').hidden = true; $('log').parentElement.hidden = true; $('gain-words').textContent = 'This recipe gives no information gain.'; }

const stageCharts = [chart($('shares'), width => shareBars(now().shift.shares, width)), chart($('confidence'), width => confidenceLines(now().shift, width)),
  chart($('transition'), drawTransition), chart($('pseudo'), drawPseudo), chart($('confusion'), width => now().confusion ? counts(now().confusion, width, 'true class', 'predicted') : null)];

function drawStageName() {
  const stage = now(), parts = [stageName(stage), stage.stage ? `${whole(stage.trusted)} trusted` : 'true labels only'];
  if (known(stage.test_accuracy)) parts.push(`test ${percent(stage.test_accuracy)}`);
  else if (known(stage.val_accuracy)) parts.push(`validation ${percent(stage.val_accuracy)}`);
  if (stage.result) parts.push('the result');
  $('stage').value = state.stage;
  $('stage-name').textContent = parts.join(' · ');
  $('stage').setAttribute('aria-valuetext', parts.join(', '));
  if (gainPlot) $('gain-words').textContent = known(D.threshold) ? 'Pool nodes right of the line are trusted in the stage after this one.' : 'This recipe does not choose by a threshold.';
}
function drawClouds() { map.draw(); if (gainPlot) gainPlot.draw(); }
function recolour() { remakeWay(); for (const cloud of [map, gainPlot]) if (cloud) cloud.pixels.forget(); drawLegend(); drawClouds(); }
function drawBelow() {
  drawDistances(); drawClasses(); drawHonesty();
  $('correction-words').textContent = correctionWords();
  for (const again of stageCharts) again();
}
const soon = call => requestAnimationFrame(() => setTimeout(call)); // after what is in view has been painted
function drawStage() { drawStageName(); recolour(); drawSelection(); drawStory(); drawStageTable(); soon(drawBelow); }
function drawAll() { drawStage(); soon(() => { drawCurves(); drawSuggested(); }); drawFacts(); }

watch('stage', drawStage);
watch('selected', () => { drawLegend(); drawSelection(); drawClouds(); if (!state.selected) $('choose').value = ''; });
watch('node', () => { drawStory(); if (state.node >= 0) { map.bring(state.node); say(`node ${IDS[state.node]}`); } map.drawOver(); if (gainPlot) gainPlot.drawOver(); });
watch('tool', () => { $('map').classList.toggle('moving', state.tool === 'move'); for (const host of [$('map'), $('gain')]) host.style.touchAction = state.tool === 'move' ? 'pan-y' : 'none'; });
watch('log', () => { if (gainPlot) gainPlot.draw(); });

$('stage').addEventListener('input', () => change({stage: Number($('stage').value)}));
$('back').addEventListener('click', () => change({stage: Math.max(0, state.stage - 1)}));
$('forth').addEventListener('click', () => change({stage: Math.min(STAGES.length - 1, state.stage + 1)}));
$('colour').addEventListener('change', recolour);
$('choose').addEventListener('change', () => { const choice = CHOICES().find(([key_]) => key_ === $('choose').value); select(choice ? maskOf(choice[2]) : null, choice ? choice[1] : ''); });
$('tool').addEventListener('change', event => change({tool: event.target.value}));
$('log').addEventListener('change', () => change({log: $('log').checked}));
$('in').addEventListener('click', () => map.zoomBy(1.5));
$('out').addEventListener('click', () => map.zoomBy(1 / 1.5));
$('all').addEventListener('click', () => map.whole());
$('theme').addEventListener('click', () => { applyTheme(theme === 'dark' ? 'light' : 'dark'); saved.set('drgst-theme', theme); drawAll(); });
$('find').addEventListener('input', () => search($('find').value));
$('search').addEventListener('submit', event => {
  event.preventDefault();
  const found = search($('find').value);
  if (found.length) { $('found').hidden = true; change({node: found[0]}); } else say('no node is called that');
});
$('search').addEventListener('keydown', event => { if (event.key === 'Escape') $('found').hidden = true; });
document.addEventListener('click', event => {
  if (!$('search').contains(event.target)) $('found').hidden = true;
  const link = event.target.closest && event.target.closest('a[href^="#"]');
  if (!link) return;
  event.preventDefault(); // in a notebook's frame such a link would leave the page
  const goal = $(link.getAttribute('href').slice(1));
  goal.scrollIntoView({behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth'});
  goal.setAttribute('tabindex', -1);
  goal.focus({preventScroll: true});
});
change({tool: 'move'});
drawAll();
soon(() => { document.documentElement.dataset.ready = 'yes'; });
