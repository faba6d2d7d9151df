// A to-do list that CKSyncEngine keeps the same on all devices of a user. Each FOLDER is a device. To try it:
//     export STRATA_HOME=$PWD/cloud; swift run todo phone add "Buy milk" "Call Ben"; swift run todo phone sync
//     swift run todo tablet sync; swift run todo tablet list

import CloudKit

func end(_ message: String, code: Int32) -> Never {
    FileHandle.standardError.write(Data("todo: \(message)\n".utf8))
    exit(code)
}

let usage = "usage: todo FOLDER add TEXT… | done TEXT | remove TEXT | list | sync"
let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 2, !words.contains("") else { end(usage, code: 2) }
let (folder, command, texts) = (URL(filePath: words[0]), words[1], Array(words.dropFirst(2)))
setenv("STRATA_DEVICE", folder.lastPathComponent, 0)  // Strata's name for this device, unless it has one.
do {
    let file = folder.appending(path: "list.json")
    let list = try TodoList(file: file)
    var failure: (any Error)?
    switch (command, texts.count) {
    case ("add", 1...): for text in texts { await list.add(text) }
    case ("done", 1) where await list.mark(texts[0], \.isDone): break
    case ("remove", 1) where await list.mark(texts[0], \.isRemoved): break
    case ("done", 1), ("remove", 1): end("there is no '\(texts[0])' in the list", code: 1)
    case ("list", 0): for line in await list.lines { print(line) }
    case ("sync", 0):
        do { try await list.sync(with: CKContainer.default().privateCloudDatabase) } catch { failure = error }
    default: end("cannot do '\(words.dropFirst().joined(separator: " "))'; \(usage)", code: 2)
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try await list.write(to: file)
    if let failure { throw failure }
} catch { end(error.localizedDescription, code: 1) }
