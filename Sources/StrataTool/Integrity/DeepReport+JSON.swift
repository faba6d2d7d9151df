import StrataModel
import StrataStore
import StrataViews

extension DeepReport {
    static let views = Shape<Self>("Views that were compared") {
        Key(
            "found",
            "the states on disk: `none`, `whole`, `olderState` (the newest cannot be used), `missing`, `damaged`, "
                + "`foreign`, `stale`, `otherForm`"
        ) { $0.finding?.rawValue ?? "none" }
        Key("folded", "the last commit that was folded") { $0.end }
        Key("states", "oldest first. Of the last, every entry was compared", each: state) { $0.states }
        Key("frames", "how many frames the states have, all of which were read") { $0.frameCount }
        Key("entries", "how many entries were compared") { $0.entryCount }
        Key("indexes", "true if entries of indexes were compared, too") { $0.comparedIndexes }
        Key("erasing", "true if an erasure has begun and is not finished") { $0.isErasing }
        Key("firstOffset", "the first commit that made an entry which differs") { $0.firstOffset }
        Key("differences", "entries that differ, 100 at most", each: difference) { $0.differences }
        Key("frameDamage", "frames that differ from the written ones, 100 at most") { $0.frameDamage }
        Key("reasons", "why a state cannot be used") { $0.reasons }
        Key("logDamage", "a commit that does not fit those before it") { $0.logDamage }
    }

    private static let state = Shape<State>("A state that was compared") {
        Key("offset", "the last commit in it") { $0.position.offset }
        Key("ok", "true if its digests match those that the log gives") { $0.isWhole }
        Key("expected", "the digests that the log gives") { $0.expected }
        Key("noted", "the digests that were written with it", if: "if they can be read") { $0.noted }
        Key("found", "the digests that its trees give", if: "if they can be read") { $0.found }
    }

    private static let difference = Shape<Difference>("An entry that differs") {
        Key("tree", "the tree, such as `records` or `index` ([format-keys.md](../format-keys.md), §3)") { $0.tree }
        Key("kind", "`missing`, `surplus` or `changed`, compared with the log") { $0.kind.rawValue }
        Key("entry", "the entry in words") { $0.entry }
        Key("key", "its key in hexadecimal digits") { $0.key.map { hexadecimal($0) }.joined() }
        Key("offset", "the commit that made it, or seems to have made a surplus entry, null if not known") { $0.offset }
    }

    static let assets = Shape<Self>("Assets that were read") {
        Key("files", "how many files commits name") { $0.assetCount }
        Key("bytes", "how many bytes they have") { $0.assetBytes }
        Key("problems", "files that are not as commits name them", each: assetProblem) { $0.assetProblems }
        Key("strays", "paths in `assets` that no commit names, 1,000 at most. This is not damage") { $0.strayFiles }
    }

    private static let assetProblem = Shape<AssetProblem>("An asset's problem") {
        Key("path", "of the file") { $0.path }
        Key("kind", "`missing`, `size`, `content` (content does not match its name), `unreadable`") { $0.kind.rawValue }
        Key("offset", "the last commit that names it") { $0.offset }
        Key("expectedBytes", "its size according to the commit") { $0.expectedBytes }
        Key("foundBytes", "its actual size", if: "if it exists") { $0.foundBytes }
        Key("because", "why it cannot be read", if: "`unreadable`") { $0.error.map { "\($0)" } }
    }
}

extension Digests: Shaped {
    static let shape = Shape<Self>("Digests", "32 hexadecimal digits each ([format-keys.md](../format-keys.md), §5).") {
        Key("state", "digest of the state") { hexadecimal($0.state) }
        Key("content", "digest of the content") { hexadecimal($0.content) }
    }
}
