// Has what modules import for their types lead to ours.

let ours = [];
let runtime;

export function initialize(data) {
  ours = data.ours;
  runtime = data.runtime;
}

export function resolve(specifier, context, next) {
  return ours.includes(specifier) ? { url: runtime, shortCircuit: true } : next(specifier, context);
}
