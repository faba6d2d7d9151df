import StrataStore
import StrataSystem
import TestSupport

// Benchmarks/Sources/strata-guards has this file, too: a test counts few saves, and tools/guards many.
extension WriteGuard {
    func run(isDoubled: Bool = false) throws -> [Finding] {
        try findings(isDoubled: isDoubled) { platform in
            var options = StoreOptions()
            if let checkpointEvents { options.checkpoints.events = checkpointEvents }
            let store = try Store.open(at: "/Saved.strata", options: options, platform: platform)
            let tasks = SampleTasks()
            _ = try store.modify(tasks.makingZone, as: SampleTasks.actor)
            for (index, numbers) in requests.enumerated() {
                let answer = try store.modify(tasks.saving(numbers), as: SampleTasks.actor)
                for save in answer.result.saves { _ = try save.get() }
                // The views become durable at the same saves in each run, whenever the indexes' thread runs.
                if index % 10 == 0 { store.awaitIndexes() }
                if index == 0 {
                    try store.declareIndexes(
                        type: SampleTasks.type, fields: SampleTasks.indexedKeys.map { ($0, .queryable) })
                }
            }
            store.awaitIndexes()
            guard eventually({ store.log.segments?.waitingCount == 0 }) else { throw Unsealed() }
            try store.close()
        }
    }

    private struct Unsealed: Error {}
}
