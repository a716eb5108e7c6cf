// The report's script: search, truth tables, moving between gaps, sorting, dark and light. No dependencies, no network;
// everything that comes from the data is set as text.
'use strict';
(() => {
  const root = document.documentElement.dataset.root || '';
  const $ = (selector, from) => (from || document).querySelector(selector);
  const make = (tag, text, attributes) => {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = text;
    for (const name in attributes || {}) element.setAttribute(name, attributes[name]);
    return element;
  };
  const loading = {};
  const load = path => loading[path] || (loading[path] = new Promise((done, failed) => {
    const script = make('script', null, { src: root + path });
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  }));

  // Dark and light.
  const dark = () => {
    const theme = document.documentElement.dataset.theme;
    return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  };
  const toggle = () => {
    const theme = dark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem('touchstone-theme', theme); } catch (e) { /* a file: page may have no storage */ }
  };
  $('#theme').onclick = toggle;

  // Sorting of tables.
  for (const table of document.querySelectorAll('table.sort')) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.onclick = () => {
        const up = head.getAttribute('aria-sort') !== 'ascending';
        for (const other of heads) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        const key = row => {
          const cell = row.cells[column];
          const text = cell.dataset.s || cell.textContent;
          return text.trim() !== '' && !isNaN(text) ? Number(text) : text;
        };
        const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
        const rows = [...table.tBodies[0].rows].map(row => [key(row), row]);
        rows.sort((a, b) => (up ? 1 : -1) * compare(a[0], b[0]));
        table.tBodies[0].append(...rows.map(row => row[1]));
      };
    });
  }

  // Truth tables.
  const PART = 256;
  const parts = {};
  const source = $('.src');
  const slug = source && source.dataset.slug;
  let panel = null;
  let selected = [];
  const close = () => {
    if (panel) panel.hidden = true;
    for (const mark of selected) mark.classList.remove('sel');
    selected = [];
  };
  const link = test => make('a', test, { href: root + 'tests.html#t-' + encodeURIComponent(test) });
  const truthTable = table => {
    const element = make('table');
    const head = element.createTHead().insertRow();
    head.append(make('th', '#'));
    table.conditions.forEach((condition, index) => head.append(make('th', 'c' + (index + 1), { title: condition[0] })));
    head.append(make('th', 'result'), make('th', 'tests'));
    const body = element.createTBody();
    const known = table.rows.length;
    [...table.rows, ...table.needed].forEach((row, number) => {
      const line = body.insertRow();
      line.append(make('td', number < known ? number + 1 : '?', { class: 'D' }));
      if (number >= known) line.className = 'needed';
      [...row[0]].forEach((value, index) => {
        const shows = row[2].includes(index);
        const title = value === '-' ? 'not evaluated' : shows ? 'independently affects the outcome' : 'masked';
        const kind = value === '-' ? 'D' : value;
        line.append(make('td', value === '-' ? '·' : value, { class: kind + (shows ? ' shows' : ''), title }));
      });
      line.append(make('td', row[1] ? 'T' : 'F', { class: row[1] ? 'T' : 'F' }));
      const tests = make('td');
      row[3].forEach((test, index) => tests.append(index ? ' ' : '', link(test)));
      if (row[4] > row[3].length) tests.append(' +' + (row[4] - row[3].length));
      if (number >= known) tests.append('needed');
      line.append(tests);
    });
    return element;
  };
  const conditions = (table, rows) => {
    const element = make('table', null, { class: 'cond' });
    const body = element.createTBody();
    table.conditions.forEach((condition, index) => {
      const line = body.insertRow();
      line.append(make('td', 'c' + (index + 1), { class: 'D' }));
      line.insertCell().append(make('code', condition[0]));
      const known = line.insertCell();
      [['true', condition[1]], ['false', condition[2]]].forEach(([value, side]) => {
        const shown = side[0] === 'shown';
        const kind = shown ? 'tc' : side[0] === 'infeasible' ? 'ti' : 'tu';
        known.append(make('span', value + (shown ? ' ✓' : ': ' + side[0]), { class: kind, title: side[1] || '' }), ' ');
      });
      const pairs = line.insertCell();
      table.pairs.filter(pair => pair[0] === index).slice(0, 6).forEach(pair => {
        const kind = pair[1] ? 'unique cause' : 'masking';
        const button = make('button', (pair[2] + 1) + '–' + (pair[3] + 1), { class: 'pairs', type: 'button', title: 'independence pair (' + kind + '): show its rows' });
        const show = () => [...rows].forEach((row, number) => row.classList.toggle('pair', number === pair[2] || number === pair[3]));
        button.onclick = show;
        button.onmouseenter = show;
        pairs.append(button);
      });
    });
    return element;
  };
  const open = async mark => {
    const number = Number(mark.dataset.d);
    const part = Math.floor(number / PART);
    await load('d/' + slug + '-' + part + '.js');
    const table = parts[part][number % PART];
    if (!table) return;
    close();
    if (!panel) {
      panel = make('aside', null, { id: 'panel', 'aria-label': 'Truth table' });
      document.body.append(panel);
    }
    selected = [...document.querySelectorAll('b[data-d="' + number + '"]')];
    for (const other of selected) other.classList.add('sel');
    const heading = make('h2');
    heading.append(make('code', table.text));
    const button = make('button', '×', { class: 'close', type: 'button', title: 'Close (Esc)' });
    button.onclick = close;
    const truth = truthTable(table);
    panel.replaceChildren(button, heading, make('span', table.function + ', line ' + table.line, { class: 'dim' }));
    if (!table.rows.length) panel.append(make('p', 'No test evaluated this decision.', { class: 'dim' }));
    if (table.rows.length || table.needed.length) {
      const wide = make('div', null, { class: 'wide' });
      wide.style.overflowX = 'auto';
      wide.append(truth);
      panel.append(make('h3', table.needed.length ? 'Rows that tests evaluated, and rows that are needed' : 'Rows that tests evaluated'), wide);
    }
    if (table.more) panel.append(make('p', '… and ' + table.more + ' more rows', { class: 'dim' }));
    panel.append(make('h3', 'Conditions: shown to decide, and the pairs of rows that show it'), conditions(table, truth.tBodies[0].rows));
    panel.hidden = false;
  };

  if (source) {
    source.addEventListener('click', event => {
      const mark = event.target.closest('b[data-d]');
      if (mark) return open(mark);
      const line = event.target.closest('p[id]');
      // The line number is drawn left of the text.
      if (line && event.clientX - source.getBoundingClientRect().left < 60) location.hash = line.id;
    });
  }

  // Moving between gaps. Only chunks are asked where they are: asking a line would lay out all lines before it.
  let at = null;
  const topLine = () => {
    const chunk = [...source.children].find(chunk => chunk.getBoundingClientRect().bottom > 90);
    if (!chunk) return 0;
    return Number(chunk.firstElementChild.id.slice(1)) - 1 + Math.max(0, Math.floor((90 - chunk.getBoundingClientRect().top) / 20));
  };
  const move = step => {
    const gaps = [...document.querySelectorAll('.src p.u, .src p.h')];
    if (!gaps.length) return;
    const line = gap => Number(gap.id.slice(1));
    const here = at ? line(at) : topLine();
    const next = step > 0 ? gaps.find(gap => line(gap) > here) : gaps.filter(gap => line(gap) < here).pop();
    if (at) at.classList.remove('at');
    at = next || (step > 0 ? gaps[0] : gaps[gaps.length - 1]);
    at.classList.add('at');
    at.scrollIntoView({ block: 'center' });
    const mark = $('b.u[tabindex], b.h[tabindex]', at);
    if (mark) mark.focus({ preventScroll: true });
  };

  // Search.
  let index = null;
  let dialog = null;
  let chosen = 0;
  const results = words => {
    const found = [];
    const file = number => index.files[number];
    const add = (kind, name, place, href, state) => {
      const low = name.toLowerCase();
      const all = low + ' ' + place.toLowerCase();
      if (!words.every(word => all.includes(word))) return;
      // Names that begin with the word come first, then names with all words; inside, functions, files, objectives.
      const named = words.every(word => low.includes(word));
      const rank = (words[0] && low.startsWith(words[0]) ? 0 : named ? 10 : 20) + kind.rank;
      found.push({ rank, kind: kind.sign, name, place, href, state });
    };
    const page = (number, line) => root + 'f/' + file(number)[1] + '.html' + (line ? '#L' + line : '');
    const place = (number, line) => file(number)[0] + (line ? ':' + line : '');
    for (const [name, number, line] of index.functions) add({ sign: 'ƒ', rank: 0 }, name, place(number, line), page(number, line));
    index.files.forEach(([path], number) => add({ sign: '▤', rank: 1 }, path, '', page(number)));
    for (const [text, number, line, state, id] of index.objectives) {
      add({ sign: '◆', rank: state === 'u' ? 2 : 3 }, text, place(number, line) + ' ' + id, page(number, line), state);
      if (found.length > 4000) break;
    }
    return found.sort((a, b) => a.rank - b.rank).slice(0, 60);
  };
  const choose = number => {
    const items = [...$('ol', dialog).children];
    if (!items.length) return;
    chosen = (number + items.length) % items.length;
    items.forEach((item, position) => item.setAttribute('aria-selected', String(position === chosen)));
    items[chosen].scrollIntoView({ block: 'nearest' });
  };
  const show = () => {
    const words = $('input', dialog).value.toLowerCase().split(/\s+/).filter(Boolean);
    const list = $('ol', dialog);
    list.replaceChildren(...(index ? results(words) : []).map(result => {
      const item = make('li', null, { role: 'option' });
      const anchor = make('a', null, { href: result.href });
      anchor.append(make('span', result.kind, { class: 'kind t' + (result.state || '') }), make('code', result.name), make('small', result.place));
      anchor.onclick = () => dialog.close();
      item.append(anchor);
      return item;
    }));
    $('p', dialog).textContent = !index ? 'Loading…' : list.children.length ? '↑ ↓ choose, Enter opens, Esc closes' : 'Nothing found';
    choose(0);
  };
  const search = async () => {
    if (!dialog) {
      dialog = make('dialog', null, { 'aria-label': 'Search' });
      const input = make('input', null, { type: 'search', placeholder: 'Functions, files, objectives', 'aria-label': 'Search', autocomplete: 'off', spellcheck: 'false' });
      dialog.append(input, make('ol', null, { role: 'listbox' }), make('p'));
      input.oninput = show;
      dialog.onclick = event => { if (event.target === dialog) dialog.close(); };
      dialog.onkeydown = event => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step) { event.preventDefault(); choose(chosen + step); }
        if (event.key === 'Enter') {
          const item = $('ol', dialog).children[chosen];
          if (item) $('a', item).click();
        }
      };
      document.body.append(dialog);
    }
    if (!dialog.open) dialog.showModal();
    $('input', dialog).select();
    show();
    await load('search.js');
    show();
  };
  $('#search').onclick = search;

  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || (dialog && dialog.open)) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    const focus = document.activeElement;
    if (event.key === '/') { event.preventDefault(); search(); }
    else if (event.key === 'n') move(1);
    else if (event.key === 'p') move(-1);
    else if (event.key === 't') toggle();
    else if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && focus && focus.matches('b[data-d]')) open(focus);
  });

  // What the lazily loaded scripts call.
  window.touchstone = {
    tables: (part, tables) => { parts[part] = tables; },
    index: data => { index = data; },
  };
})();
