import FuzzBodies
import FuzzDriver

fuzz { _ = FuzzBodies.schema($0) }
