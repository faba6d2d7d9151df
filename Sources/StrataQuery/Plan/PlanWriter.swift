import StrataViews

/// Describes a plan in words.
struct PlanWriter: Sendable {
    let scene: QueryContext
    let recordType: String
    let limit: Int

    func lines(_ plan: QueryPlan) -> [String] {
        var lines = describe(plan.source).enumerated().map { $0 == 0 ? $1 : "  " + $1 }
        if !lines.isEmpty, plan.source != .nothing { lines[0] += ", about \(Int(plan.estimatedRows)) rows" }
        if plan.residual != .constant(true) {
            lines.append("keep those with " + PredicateWriter.text(of: plan.residual))
        }
        if plan.sorting != .none {
            let keys = plan.order.keys.map(Self.describe) + [plan.order.ties == .byName ? "name" : "place"]
            lines.append("\(plan.sorting.rawValue) by \(keys.joined(separator: ", "))")
        }
        lines.append("stop after \(limit)")
        for missing in plan.missingIndexes { lines.append("an index of \(recordType).\(missing.key) would help") }
        return lines
    }

    private static func describe(_ key: SortKey) -> String {
        switch key {
        case .key(let name, let isAscending): isAscending ? name : "\(name) descending"
        case .distance(let name, let latitude, let longitude): "distance of \(name) from \(latitude), \(longitude)"
        }
    }

    private func describe(_ source: QueryPlan.Source) -> [String] {
        switch source {
        case .nothing: return ["nothing can match"]
        case .records(let keys): return ["records by name: \(keys.count)"]
        case .zones(let zones):
            return [zones.count == 1 ? "all records of the zone" : "all records of \(zones.count) zones"]
        case .nearest(let id, let circle):
            let within = circle.radiusMetres.isFinite ? " within \(circle.radiusMetres) m" : ""
            return [
                "index \(name(id)), the nearest to \(circle.latitude), \(circle.longitude) first" + within
            ]
        case .index(let match, let isReversed):
            let ranges =
                match.isPoint ? "one value" : match.ranges == [.all] ? "all rows" : "\(match.ranges.count) ranges"
            return ["index \(name(match.id)): \(ranges)" + (isReversed ? ", in reverse order" : "")]
        case .union(let sources):
            return ["any of"] + sources.flatMap { describe($0).map { "  " + $0 } }
        case .intersection(let small, let large):
            return ["both of"] + [small, large].flatMap { describe($0).map { "  " + $0 } }
        }
    }

    private func name(_ id: IndexID) -> String {
        let form =
            switch id.form {
            case .ordered: ""
            case .words: " (words)"
            case .cells: " (cells)"
            }
        // A name that cannot be read now was readable when the plan was made.
        return "\(recordType).\((try? scene.keyName(of: id)) ?? "?")\(form)"
    }
}
