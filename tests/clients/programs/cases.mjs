// Runs cases, which are named functions, one after another, and prints the outcome of each.
import { inspect, isDeepStrictEqual } from 'node:util'

// A case that still runs after this time has failed, and the cases behind it do not run.
const LIMIT_MS = 180_000

export function equal(found, wanted) {
  if (!isDeepStrictEqual(found, wanted)) {
    const [f, w] = [found, wanted].map((value) => inspect(value, { depth: 9 }))
    throw new Error(`found ${f}, wanted ${w}`)
  }
}

export async function rejects(promise, code) {
  try {
    await promise
  } catch (e) {
    const found = e.code ?? e.parent?.code ?? e.driverError?.code
    return equal(found, code)
  }
  throw new Error(`no error, wanted ${code}`)
}

export async function run(cases) {
  for (const [name, body] of Object.entries(cases)) {
    const timer = setTimeout(() => {
      console.log(`not ok ${name}\ntimed out`)
      process.exit(1)
    }, LIMIT_MS)
    try {
      await body()
      console.log(`ok ${name}`)
    } catch (e) {
      console.log(`not ok ${name}`)
      console.log(inspect(e, { depth: 3 }))
    }
    clearTimeout(timer)
  }
}
