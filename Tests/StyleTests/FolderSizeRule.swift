/// Finds folders of the product with more files than a reader can search by name.
struct FolderSizeRule: StyleRule {
    static let maximumFiles = 25

    func findings(in files: [SourceFile]) -> [Finding] {
        let folders = Dictionary(grouping: files.filter { $0.isSwift && $0.module != nil }) { file in
            file.path.split(separator: "/").dropLast().joined(separator: "/")
        }
        return folders.filter { $0.value.count > Self.maximumFiles }.keys.sorted().map { folder in
            Finding(
                path: folder, line: 1,
                message: "\(folders[folder]?.count ?? 0) files, more than \(Self.maximumFiles); divide it by noun")
        }
    }
}
