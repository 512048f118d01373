(function () {
  'use strict';
  var form = document.getElementById('filter');
  if (!form) { return; }
  var text = document.getElementById('filter-text');
  var boxes = Array.prototype.slice.call(form.querySelectorAll('input[type=checkbox]'));
  var items = Array.prototype.slice.call(document.querySelectorAll('[data-host]'));
  var shown = document.getElementById('filter-shown');
  function apply() {
    var wanted = text.value.trim().toLowerCase();
    var verdicts = {};
    boxes.forEach(function (box) { verdicts[box.value] = box.checked; });
    var rows = 0;
    items.forEach(function (item) {
      var on = verdicts[item.dataset.verdict] && item.dataset.host.indexOf(wanted) !== -1;
      item.hidden = !on;
      if (on && item.tagName === 'TR') { rows += 1; }
    });
    shown.textContent = rows + ' shown';
  }
  var timer = 0;
  text.addEventListener('input', function () { clearTimeout(timer); timer = setTimeout(apply, 120); });
  boxes.forEach(function (box) { box.addEventListener('change', apply); });
  form.addEventListener('submit', function (event) { event.preventDefault(); });
  function openTarget() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (target && target.tagName === 'DETAILS') { target.open = true; target.scrollIntoView(); }
  }
  window.addEventListener('hashchange', openTarget);
  form.hidden = false;
  openTarget();
}());
