import StrataModel
import StrataStore
import StrataViews

// Writes the result of `verify --deep` as JSON.
extension JSONWriter {
    mutating func fieldOfViews(_ report: DeepReport) {
        beginObject("views")
        field("found", report.finding?.rawValue ?? "none")
        field("folded", report.end)
        beginArray("checkpoints")
        for checkpoint in report.checkpoints {
            beginObject()
            field("offset", checkpoint.position.offset)
            field("ok", checkpoint.isWhole)
            field("expected", checkpoint.expected)
            if let noted = checkpoint.noted { field("noted", noted) }
            if let found = checkpoint.found { field("found", found) }
            endObject()
        }
        endArray()
        field("pages", report.pageCount)
        field("entries", report.entryCount)
        field("indexes", report.comparedIndexes)
        field("outrun", report.wasOutrun)
        field("erasing", report.isErasing)
        field("firstOffset", report.firstOffset)
        beginArray("differences")
        for difference in report.differences {
            beginObject()
            field("tree", difference.tree)
            field("kind", difference.kind.rawValue)
            field("entry", difference.entry)
            field("key", difference.key.map { hexadecimal($0) }.joined())
            field("offset", difference.offset)
            endObject()
        }
        endArray()
        fieldOfErrors("pageDamage", report.pageDamage)
        fieldOfErrors("reasons", report.reasons)
        field("logDamage", report.logDamage)
        endObject()
    }

    mutating func fieldOfAssets(_ report: DeepReport) {
        beginObject("assets")
        field("files", report.assetCount)
        field("bytes", report.assetBytes)
        beginArray("problems")
        for problem in report.assetProblems {
            beginObject()
            field("path", problem.path)
            field("kind", problem.kind.rawValue)
            field("offset", problem.offset)
            field("expectedBytes", problem.expectedBytes)
            if let found = problem.foundBytes { field("foundBytes", found) }
            if let error = problem.error { field("because", "\(error)") }
            endObject()
        }
        endArray()
        beginArray("strays")
        for path in report.strayFiles { value(path) }
        endArray()
        endObject()
    }

    private mutating func field(_ key: StaticString, _ digests: Digests) {
        beginObject(key)
        field("state", hexadecimal(digests.state))
        field("content", hexadecimal(digests.content))
        endObject()
    }

    private mutating func fieldOfErrors(_ key: StaticString, _ errors: [StrataError]) {
        beginArray(key)
        for error in errors { value(error) }
        endArray()
    }
}
