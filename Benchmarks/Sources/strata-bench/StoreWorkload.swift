import Glibc
import StrataLog
import StrataModel
import StrataStore
import StrataSystem

/// What a whole store does beyond the records that it is compared with peers for.
struct StoreWorkload: Workload {
    static let name = "store"
    enum Part: String, CaseIterable {
        case cascade, fresh, assets, refusals, turns, compaction, closing, names
    }

    let size: WorkloadSize
    let folder: String
    let records = TaskRecords()

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
    }

    private func isWanted(_ part: Part) -> Bool { size.includes(part.rawValue) }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        var measurements: [Measurement] = []
        if isWanted(.cascade) { measurements += try cascades(progress) }
        if isWanted(.refusals) { measurements += try refusals(progress) }
        if isWanted(.turns) { measurements += try turns(progress) }
        if isWanted(.fresh) { measurements += try fresh(progress) }
        if isWanted(.names) { measurements += try names(progress) }
        if isWanted(.closing) { measurements += try closing(progress) }
        if isWanted(.compaction) { measurements += try compactions(progress) }
        if isWanted(.assets) { measurements += try assets(progress) }
        return measurements
    }

    // MARK: Rounds

    /// Four rounds of eight seconds make the half minute that a measurement takes.
    var rounds: Int { size.isQuick ? 2 : 4 }
    var seconds: Double { size.isQuick ? 0.4 : 8 }

    func measurement(
        _ metric: String, _ unit: String, _ strata: [Double], _ peer: String, _ values: [Double],
        _ bar: Measurement.Bar
    ) -> Measurement {
        Measurement(
            workload: Self.name, metric: metric, unit: unit, strata: strata, peer: peer, peerValues: values, bar: bar)
    }
}
