/// Judges the place where reading a segment stopped. docs/format.md §10 has the same table in words.
///
/// | place | rest zero | witness | newest | verdict |
/// |---|---|---|---|---|
/// | nothing | yes | - | yes | end |
/// | nothing | yes | - | no | damage: no seal |
/// | nothing | no | no | yes | torn tail |
/// | invalid | - | no | yes | torn tail |
/// | nothing | no | yes | - | damage |
/// | invalid | - | yes | - | damage |
/// | nothing | no | no | no | damage |
/// | invalid | - | no | no | damage |
/// | cannot follow | - | - | - | damage |
/// | unsupported | - | - | - | unsupported |
/// | seal | yes | - | - | closed |
/// | seal | no | - | - | damage |
enum RecoveryTable {
    enum Place: CaseIterable, Sendable { case nothing, invalid, cannotFollow, unsupported, seal }

    enum Verdict: Sendable, Equatable { case end, tornTail, damage, noSeal, unsupported, closed }

    struct TailEvidence: Sendable, Hashable {
        var place: Place
        var restIsZero: Bool
        var hasWitness: Bool
        var isNewest: Bool
    }

    /// A row of the table, in which nil means "either".
    struct Row: Sendable {
        var place: Place
        var restIsZero: Bool?
        var hasWitness: Bool?
        var isNewest: Bool?
        var verdict: Verdict

        func matches(_ situation: TailEvidence) -> Bool {
            place == situation.place && (restIsZero ?? situation.restIsZero) == situation.restIsZero
                && (hasWitness ?? situation.hasWitness) == situation.hasWitness
                && (isNewest ?? situation.isNewest) == situation.isNewest
        }
    }

    /// Exactly one row matches each situation; a test checks them all.
    static let rows: [Row] = [
        Row(place: .nothing, restIsZero: true, hasWitness: nil, isNewest: true, verdict: .end),
        Row(place: .nothing, restIsZero: true, hasWitness: nil, isNewest: false, verdict: .noSeal),
        Row(place: .nothing, restIsZero: false, hasWitness: false, isNewest: true, verdict: .tornTail),
        Row(place: .invalid, restIsZero: nil, hasWitness: false, isNewest: true, verdict: .tornTail),
        Row(place: .nothing, restIsZero: false, hasWitness: true, isNewest: nil, verdict: .damage),
        Row(place: .invalid, restIsZero: nil, hasWitness: true, isNewest: nil, verdict: .damage),
        Row(place: .nothing, restIsZero: false, hasWitness: false, isNewest: false, verdict: .damage),
        Row(place: .invalid, restIsZero: nil, hasWitness: false, isNewest: false, verdict: .damage),
        Row(place: .cannotFollow, restIsZero: nil, hasWitness: nil, isNewest: nil, verdict: .damage),
        Row(place: .unsupported, restIsZero: nil, hasWitness: nil, isNewest: nil, verdict: .unsupported),
        Row(place: .seal, restIsZero: true, hasWitness: nil, isNewest: nil, verdict: .closed),
        Row(place: .seal, restIsZero: false, hasWitness: nil, isNewest: nil, verdict: .damage),
    ]

    static func verdict(for situation: TailEvidence) -> Verdict {
        guard let row = rows.first(where: { $0.matches(situation) }) else {
            preconditionFailure("the recovery table covers every situation")
        }
        return row.verdict
    }
}
