import Foundation
import StrataSystem

/// The copied fraction of the asset files of a request's records.
final class CopiedFiles: Sendable {
    private struct Item {
        var total = 0.0
        var copied = 0.0
        var steps = ProgressSteps()
    }

    private struct State {
        /// The state of each record, by its index in the request.
        var items: [Int: Item] = [:]
        var copied: [URL: Double] = [:]
    }

    private let places: [URL: Set<Int>]
    private let state: Lock<State>
    private let report: ItemProgress<Int>

    /// - Parameter places: The indexes of the records that have each file.
    init(_ places: [URL: Set<Int>], report: @escaping ItemProgress<Int>) {
        self.places = places
        self.report = report
        var state = State()
        for (url, places) in places {
            let size = Self.size(of: url)
            for place in places { state.items[place, default: Item()].total += size }
        }
        self.state = Lock(state)
    }

    func note(_ url: URL, _ bytes: Int) {
        state.withLock { state in
            let added = Double(bytes) - state.copied[url, default: 0]
            state.copied[url] = Double(bytes)
            for place in places[url, default: []] {
                guard var item = state.items[place] else { continue }
                item.copied += added
                // The lock keeps the reports in order.
                if let fraction = item.steps.next(item.copied / item.total) { report(place, fraction) }
                state.items[place] = item
            }
        }
    }

    /// Returns the size of a file; 0 if it does not exist, since its record fails.
    private static func size(of url: URL) -> Double {
        var status = stat()
        return stat(url.path, &status) == 0 ? Double(status.st_size) : 0
    }
}
