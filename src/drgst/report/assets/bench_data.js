// The bench, as Python wrote it.
const D = JSON.parse(document.getElementById('data').textContent);
const C = D.classes.length;
const state = {place: 0};
