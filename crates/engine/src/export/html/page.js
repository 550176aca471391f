const root = document.documentElement;
const find = (id) => document.getElementById(id);
const fields = [...document.querySelectorAll('tbody.field')];
const above = (field) => field.parentElement.closest('tbody.field');
const row = (field) => field.querySelector(':scope > tr.datavalue');
const box = (field) => row(field).querySelector('.pick input');
const fold = (open) => document.querySelectorAll('tr.below details').forEach((one) => { one.open = open; });
const reveal = (field) => {
  for (let at = above(field); at; at = above(at)) at.querySelector(':scope > tr.below details').open = true;
};
root.classList.add('scripted');

/* Search: a field is shown if its row, or that of a field above or below it, has all the words. */
const texts = fields.map((field) => row(field).textContent.toLowerCase());
const search = find('search');
search.oninput = () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = fields.filter((field, at) => words.every((word) => texts[at].includes(word)));
  const shown = new Set(found);
  found.forEach((field) => { for (let at = above(field); at && !shown.has(at); at = above(at)) shown.add(at); });
  const hits = new Set(found);
  fields.forEach((field) => {
    if (words.length && hits.has(above(field))) { hits.add(field); shown.add(field); }
    field.hidden = !shown.has(field);
  });
  if (words.length) found.forEach(reveal);
  find('nothing').hidden = found.length > 0 || fields.length === 0;
  document.querySelector('.data-values-fields').hidden = found.length === 0 && fields.length > 0;
  find('count').textContent = words.length ? found.length + (found.length === 1 ? ' field' : ' fields') : '';
};
find('all').onclick = () => { search.value = ''; search.oninput(); search.focus(); };
addEventListener('keydown', (event) => {
  const typing = /^(INPUT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== 'checkbox';
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); search.focus(); }
  if (event.key === 'Escape' && event.target === search && search.value) { search.value = ''; search.oninput(); }
});
addEventListener('beforeprint', () => fold(true));
find('unfold').onclick = () => fold(true);
find('fold').onclick = () => fold(false);

/* Links to folded fields unfold them. */
const follow = () => {
  const field = find(decodeURIComponent(location.hash.slice(1)));
  if (field && field.matches('tbody.field')) { reveal(field); field.scrollIntoView(); }
};
addEventListener('hashchange', follow);
follow();

/* Picked fields as YAML: maps over lines, everything else as JSON, which is YAML too. */
const steps = (field) => [...(above(field) ? steps(above(field)) : []), ...JSON.parse(field.dataset.step)];
const plain = /^[A-Za-z_][A-Za-z0-9_.\/-]*$/;
const special = /^(y|n|yes|no|on|off|true|false|null)$/i;
const key = (text) => (plain.test(text) && !special.test(text) ? text : JSON.stringify(text));
const lines = (node, margin) => {
  if (node.items) {
    const inner = lines(node.items, margin + '  ');
    return [margin + '- ' + inner[0].trimStart(), ...inner.slice(1)];
  }
  if (node.keys.size === 0) return [margin + node.value];
  return [...node.keys].flatMap(([name, below]) => {
    const inner = lines(below, margin + '  ');
    const isLeaf = !below.items && below.keys.size === 0;
    return isLeaf ? [margin + key(name) + ': ' + inner[0].trimStart()] : [margin + key(name) + ':', ...inner];
  });
};
const make = () => ({ keys: new Map(), items: null, value: '{}' });
/* A map of which nothing else is picked comes with all that it has of itself. */
const whole = (field) => {
  const below = [...field.querySelectorAll('tbody.field')];
  if (field.dataset.value !== '{}' || below.some((one) => box(one).checked)) return [field];
  const start = row(field).cells[0].textContent.length;
  const own = below.filter((one) => one.dataset.value !== '{}' && !row(one).querySelector('.mark.deprecated')
    && !/\[\]|\*/.test(row(one).cells[0].textContent.slice(start)));
  return own.length ? own : [field];
};
const picked = () => {
  const top = make();
  const chosen = fields.filter((field) => box(field).checked).flatMap(whole);
  chosen.forEach((field) => {
    let at = top;
    steps(field).forEach((step) => {
      if (step === null) { at.items = at.items || make(); at = at.items; return; }
      if (!at.keys.has(step)) at.keys.set(step, make());
      at = at.keys.get(step);
    });
    at.value = field.dataset.value;
  });
  find('picked').hidden = chosen.length === 0;
  find('values').value = chosen.length ? lines(top, '').join('\n') + '\n' : '';
  find('copied').textContent = '';
};
fields.forEach((field) => { box(field).onchange = picked; });
find('clear').onclick = () => { fields.forEach((field) => { box(field).checked = false; }); picked(); };
find('copy').onclick = async () => {
  const area = find('values');
  try { await navigator.clipboard.writeText(area.value); } catch { area.select(); document.execCommand('copy'); }
  find('copied').textContent = 'Copied';
};
