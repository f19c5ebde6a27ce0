// Images that are files of a folder, as if they were the records of a file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/image_records.h"

namespace pitwall::data {

// Record `i` is images[i], with its labels and id. A file that is missing is the error of its record: invalidInput.
std::unique_ptr<RecordFile> filesAsRecords(std::string root, std::vector<ListedImage> images);

// The places of those records. Their offset is the number of the image.
RecordPlaces placesOfFiles(const std::vector<ListedImage>& images);

}  // namespace pitwall::data
