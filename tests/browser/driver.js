addEventListener('load', () => setTimeout(() => {
  const results = {};
  /* The real clipboard answers when it likes, which no virtual clock waits for. */
  Object.defineProperty(navigator, 'clipboard', {
    value: { writeText: async (text) => { results.clipboard = text; } },
  });
  const shown = () => [...document.querySelectorAll('tbody.field')]
    .filter((field) => field.checkVisibility()).map((field) => field.querySelector('.fieldname').textContent);
  const search = document.getElementById('search');
  const look = (text) => { search.value = text; search.dispatchEvent(new Event('input')); return shown(); };
  results.start = shown();
  results.search = look('ports num');
  results.count = document.getElementById('count').textContent;
  results.nothing = look('no such field');
  results.hint = document.querySelector('#nothing:not([hidden]) p').textContent;
  document.getElementById('all').click();
  search.blur();
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }));
  results.focused = document.activeElement.id;
  document.getElementById('fold').click();
  results.folded = shown().length;
  document.getElementById('unfold').click();
  results.unfolded = shown().length;
  document.getElementById('fold').click();
  document.querySelector('.to-give a[href$="db.db_url"]').click();
  setTimeout(() => {
    results.linked = shown().includes('db.db_url');
    for (const path of ['username', 'db.db_url', 'db.ports[].num', 'labels.*', 'password']) {
      document.querySelector('input[aria-label="Pick ' + path + '"]').click();
    }
    results.values = document.getElementById('values').value;
    document.getElementById('clear').click();
    document.querySelector('input[aria-label="Pick range"]').click();
    results.map = document.getElementById('values').value;
    document.getElementById('clear').click();
    document.querySelector('input[aria-label="Pick backup (2).hosts[].name"]').click();
    results.shape = document.getElementById('values').value;
    document.getElementById('clear').click();
    for (const path of ['username', 'db.db_url', 'db.ports[].num', 'labels.*', 'password']) {
      document.querySelector('input[aria-label="Pick ' + path + '"]').click();
    }
    document.getElementById('copy').click();
    setTimeout(() => {
      results.copied = document.getElementById('copied').textContent;
      results.requests = performance.getEntriesByType('resource').length;
      document.title = JSON.stringify(results);
    }, 100);
  }, 100);
}, 0));
