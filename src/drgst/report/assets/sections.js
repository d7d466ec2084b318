// The parts of the page below the map: all follow the stage.
const now = () => STAGES[state.stage];
const here = stage => stage === now();

function drawStageTable() {
  const columns = [['stage', ''], ['trusted', 'number'], ['right', 'number'], ['validation', 'number'], ['test', 'number'], ['epochs', 'number'], ['seconds', 'number'], ['', '']];
  const row = stage => ({now: here(stage), cells: [stageName(stage), whole(stage.trusted), percent(stage.precision), percent(stage.val_accuracy), percent(stage.test_accuracy), whole(stage.epochs), stage.seconds.toFixed(1),
    [stage.result ? 'the result' : stage.accepted ? '' : 'not kept', stage.note].filter(Boolean).join(': ')]});
  $('stage-table').replaceChildren(table(columns, D.stages.map(row), 'Stages'));
}

function drawDistances() {
  const columns = [['stage', ''], ['classes: trusted, all', 'number'], ['trusted, labelled', 'number'], ['labelled, all', 'number'], ['predicted, true', 'number'], ['confidence: trusted, all', 'number'], ['labelled, all', 'number']];
  const row = stage => { const a = stage.shift.class_distance, b = stage.shift.confidence_distance; return {now: here(stage), cells: [stageName(stage), figure(a['trusted-all']), figure(a['trusted-labelled']), figure(a['labelled-all']), figure(a['all-truth']), figure(b['trusted-all']), figure(b['labelled-all'])]}; };
  $('distances').replaceChildren(el('h3', null, 'Distances, stage by stage'), table(columns, D.stages.map(row), 'Distances'));
}

function correctionWords() {
  const stage = now();
  if (stage.transition) return 'T_kj is the chance that a node of class k gets the pseudo-label j, as the run estimated it from its labelled nodes alone; a T with ones on the diagonal corrects nothing.';
  return stage.trusted ? 'This recipe does not learn a transition matrix T.' : 'No node was pseudo-labelled in this stage, so there is no T; move the stage slider.';
}
const drawTransition = width => now().transition ? chances(now().transition, width, 'true class', 'pseudo-label') : el('p', {class: 'empty'}, 'There is none in this stage.');
const drawPseudo = width => now().pseudo ? counts(now().pseudo, width, 'true class', 'pseudo-label') : el('p', {class: 'empty'}, 'There is no pseudo-labelled node of known truth in this stage.');

function drawHonesty() {
  const honest = now().honesty, host = $('reliability');
  if (!honest) { $('honesty-words').textContent = 'No test or validation node has a known label, so nobody can say.'; host.replaceChildren(); return; }
  $('honesty-words').textContent = `Of the ${honest.nodes} nodes of which the network is 80% sure, 80% should be right: bars on the line are honest, bars below it boast. Dashed: how far off. ECE is the mean of that over the nodes, in 20 bins.`;
  const panel = (title, data) => {
    const box = el('div', {class: 'chart'}), words = `ECE ${percent(data.ece)}; ${percent(data.mean_confidence)} sure and ${percent(data.mean_accuracy)} right on average`;
    chart(box, width => reliabilityDiagram(data, width));
    return el('figure', null, el('figcaption', null, title), el('p', {class: 'hint'}, words), box);
  };
  const after = honest.after ? panel(`After calibration`, honest.after) : null;
  if (after) after.querySelector('.hint').prepend(`${honest.after_words}: `);
  host.replaceChildren(...[panel(after ? 'Before calibration' : 'As it is', honest.before), after].filter(Boolean));
}

function drawClasses() {
  const matrix = now().confusion;
  $('confusion-figure').hidden = !matrix;
  if (!matrix) { $('classes-words').textContent = 'No test or validation node has a known label.'; $('per-class').replaceChildren(); return; }
  $('classes-words').textContent = `Over the ${D.judges} nodes. Precision: of those called so, how many are. Recall: of those that are, how many are called so.`;
  const sum = values => values.reduce((a, b) => a + b, 0), column = k => sum(matrix.map(row => row[k]));
  const row = (name, k) => {
    const hit = matrix[k][k], precision = column(k) ? hit / column(k) : null, recall = sum(matrix[k]) ? hit / sum(matrix[k]) : null;
    return [name, percent(precision), percent(recall), known(precision) && known(recall) && precision + recall > 0 ? percent(2 * precision * recall / (precision + recall)) : '–', whole(sum(matrix[k])), whole(column(k))];
  };
  $('per-class').replaceChildren(table([['class', 'name'], ['precision', 'number'], ['recall', 'number'], ['F1', 'number'], ['in truth', 'number'], ['predicted', 'number']], D.classes.map(row), 'Class by class'));
}

function drawCurves() {
  const all = STAGES.flatMap(stage => stage.trainings.map((training, at) => [stage, training, at])), finite = all.flatMap(([, t]) => [...t.train, ...t.val]).filter(known).sort((a, b) => a - b);
  const most = finite.length ? finite[Math.floor(.995 * (finite.length - 1))] * 1.05 || 1 : 1;
  const one = ([stage, training, at]) => {
    const box = el('div', {class: 'chart'}), second = stage.trainings.length > 1 ? `, training ${at + 1} of ${stage.trainings.length}` : '', name = stageName(stage);
    chart(box, width => training.at.length ? curveDiagram(training, most, width) : el('p', {class: 'empty'}, 'It has no epochs.'));
    return el('figure', null, el('figcaption', null, `${name[0].toUpperCase()}${name.slice(1)}${second}`), box, el('p', {class: 'hint'}, `${whole(training.epochs)} epochs: ${training.reason}`));
  };
  $('curves').replaceChildren(...all.map(one));
}

function drawSuggested() {
  const {rows, measure} = D.suggested, host = $('suggested');
  $('next-words').textContent = rows.length ? `Each is the node of largest ${measure} in a group of nodes alike: a label there teaches most, and not the same thing twice.` : 'Every node has a label.';
  if (!rows.length) return;
  const line = (row, at) => [String(at + 1), nodeLink(row.node), className(row.predicted), percent(row.confidence), figure(row.worth), whole(row.stands_for)];
  const all = [['rank', 'id', 'predicted', 'confidence', 'worth', 'stands_for'], ...rows.map((row, at) => [at + 1, IDS[row.node], className(row.predicted), row.confidence.toFixed(5), row.worth, row.stands_for])];
  host.replaceChildren(table([['', 'number'], ['node', 'name'], ['predicted', 'name'], ['confidence', 'number'], [measure, 'number'], ['stands for', 'number']], rows.map(line), 'What to label next'),
    el('p', null, el('button', {type: 'button', id: 'csv-next', onclick: () => download('label-next.csv', all)}, 'Download CSV')));
}

function drawFacts() {
  $('again').textContent = D.facts.again;
  $('facts').replaceChildren(...D.facts.tables.map(([title, rows]) => el('div', null, el('h3', null, title), el('div', {class: 'scroll'}, table([['', ''], ['', 'name']], rows, title)))));
  $('notes').replaceChildren(...D.notes.map(words => el('p', {class: 'hint'}, words)));
}
